/** A pull's current details, as Markdown for the Temporal UI; what journeys have in current-details.ts. */

import { PULL_WORDS } from '../../messages/state-words.ts';
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
import { code, listLine, plain, time } from '../details/markdown.ts';
import type { Pull } from './pull.ts';

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
    ...(pull.consumers ? [consumerList(pull.consumers)] : []),
    refusedMessages({ status }),
    ...(isOver ? [] : [resetTerminateCancel('pull')]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function sentence(pull: Pull, hold: Pull['holds']['view'][number] | undefined): string {
  const { inquiry, outcome, endedAs, holds } = pull;
  if (hold) {
    return `A person must decide about ${plain(hold.productCode)} (${hold.failureType}), since ${time(hold.since)}.`;
  }
  if (holds.list.length > 0) return 'A decision is being recorded.';
  const { end } = PULL_WORDS[endedAs ?? outcome ?? 'running'];
  if (end) return end;
  const waiting = inquiry.waitingFor === undefined ? '' : `: ${plain(inquiry.waitingFor)}`;
  return `${plain(pull.productCode)} is under way, attempts so far: ${inquiry.attempts}${waiting}.`;
}

function consumerList(consumers: NonNullable<Pull['consumers']>): string {
  const lines = consumers.map(({ applicantId, outcome, reportReferenceNumber }) =>
    listLine(plain(applicantId), [outcome, ending(reportReferenceNumber)]),
  );
  return `### Consumers\n\n${lines.join('\n')}`;
}
