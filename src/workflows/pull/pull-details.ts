/** A pull's current details, as Markdown for the Temporal UI; what journeys have in current-details.ts. */

import type { ConsumerResult, PullState } from '../../messages/pull/shapes.ts';
import { pullStanding } from '../../messages/standing-words.ts';
import { endingSentence } from '../../model/hold-guide.ts';
import {
  answerWords,
  attemptWords,
  ending,
  mismatchLine,
  refusedMessages,
  resetTerminateCancel,
  uncheckedDetails,
} from '../details/current-details.ts';
import { holdSection } from '../details/hold-details.ts';
import { code, listLine, MARKDOWN, plain, time } from '../details/markdown.ts';
import type { Pull } from './pull.ts';

type HeldInquiry = Pull['holds']['view'][number];

/** Nothing personal is in it. */
export function pullDetails(pull: Pull): string {
  const { run } = pull;
  if (!run) return uncheckedDetails(pull);
  const { ownerId, isEnding, endUserCode } = pull;
  const status = pull.status();
  const isOver = pull.endedAs !== undefined || pull.outcome !== undefined;
  const [hold] = pull.holds.view.filter(({ isDecided }) => !isDecided);
  const { customerId, runbookUrl } = run;
  const side = { customerId, endUserCode, runbookUrl };
  return [
    `**${sentence(pull, hold)}**${isEnding && !isOver ? ` ${endingSentence('pull')}` : ''}`,
    ...(hold ? [holdSection(hold, { ownerId, run: side, isEnding })] : []),
    ...(status.attention ? [mismatchLine(`trace number ${code(status.customerTraceNumber)}`, runbookUrl)] : []),
    listLine(plain(status.productCode), [
      status.state,
      time(pull.inquiry.since),
      attemptWords(status.attempts),
      code(status.customerTraceNumber),
      ending(status.reportReferenceNumber),
      ...answerWords(status),
    ]),
    ...(pull.consumers.consumers ? [consumerList(pull.consumers.consumers)] : []),
    refusedMessages({ status }),
    ...(isOver ? [] : [resetTerminateCancel('pull')]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function sentence({ inquiry, outcome, endedAs, holds, productCode }: Pull, hold: HeldInquiry | undefined): string {
  const state: PullState = endedAs ?? outcome ?? 'running';
  const status = { state, productCode, attempts: inquiry.attempts };
  return pullStanding({ status, hold, holds: holds.list.length, retry: inquiry.waitingFor }, MARKDOWN);
}

function consumerList(consumers: readonly ConsumerResult[]): string {
  const lines = consumers.map(({ applicantId, outcome, reportReferenceNumber }) =>
    listLine(plain(applicantId), [outcome, ending(reportReferenceNumber)]),
  );
  return `### Consumers\n\n${lines.join('\n')}`;
}
