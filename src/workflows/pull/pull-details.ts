/** A pull's current details, as Markdown for the Temporal UI; what journeys have in current-details.ts. */

import { PULL_WORDS } from '../../messages/state-words.ts';
import { endingSentence } from '../../model/hold-guide.ts';
import { ending, refusedMessages, resetTerminateCancel, UNCHECKED } from '../details/current-details.ts';
import { holdSection } from '../details/hold-details.ts';
import { code, markdownTable, plain, time } from '../details/markdown.ts';
import type { Pull } from './pull.ts';

/** Nothing personal is in it. */
export function pullDetails(pull: Pull): string {
  const { run } = pull;
  if (!run) return UNCHECKED[pull.endedUnchecked ? 'endedUnchecked' : 'beingChecked'];
  const { ownerId, isEnding, endUserCode } = pull;
  const status = pull.status();
  const isOver = pull.endedAs !== undefined || pull.outcome !== undefined;
  const [hold] = pull.holds.view.filter(({ isDecided }) => !isDecided);
  const side = { customerId: run.customerId, endUserCode };
  return [
    `**${sentence(pull, hold)}**${isEnding && !isOver ? ` ${endingSentence('pull')}` : ''}`,
    markdownTable(
      ['Product', 'State', 'Since', 'Attempts', 'Trace number', 'Reference'],
      [
        [
          plain(status.productCode),
          status.state,
          time(pull.inquiry.since),
          String(status.attempts),
          code(status.customerTraceNumber),
          ending(status.reportReferenceNumber),
        ],
      ],
    ),
    ...(pull.consumers ? [consumerTable(pull.consumers)] : []),
    ...(hold ? [holdSection(hold, { ownerId, run: side, isEnding })] : []),
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

function consumerTable(consumers: NonNullable<Pull['consumers']>): string {
  return markdownTable(
    ['Applicant', 'Outcome', 'Reference'],
    consumers.map(({ applicantId, outcome, reportReferenceNumber }) => [
      plain(applicantId),
      outcome,
      ending(reportReferenceNumber),
    ]),
  );
}
