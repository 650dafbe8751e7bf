/** A review's current details, as Markdown for the Temporal UI; what journeys have in current-details.ts. */
import { refusedMessages, resetTerminateCancel, UNCHECKED } from './current-details.ts';
import { holdSection } from './hold-details.ts';
import { code, plain, table } from './markdown.ts';
import type { Review } from './review.ts';

/** The rest is told by the query `status` and by the command line. */
const HOLDS_SHOWN = 3;

/** Nothing personal is in it. */
export function reviewDetails(review: Review): string {
  const { run } = review;
  if (!run) return UNCHECKED[review.endedUnchecked ? 'endedUnchecked' : 'beingChecked'];
  const { ownerId, isEnding, input } = review;
  const status = review.status();
  const { progress } = status;
  const isOver = review.isCancelled || review.outcome !== undefined;
  const open = review.holds.view.filter(({ isDecided }) => !isDecided);
  const side = { customerId: run.customerId, endUserCode: input.endUserCode };
  return [
    `**${sentence(review, status.waitingFor)}**`,
    table(
      ['Rows', 'Done', 'Record', 'No record', 'Held', 'Under way', 'Bad rows', 'Rows a second'],
      [
        [
          progress.rows,
          progress.done,
          progress.record,
          progress.noRecord,
          progress.held,
          progress.underWay,
          progress.badRows,
          progress.rowsPerSecond ?? '',
        ].map(String),
      ],
    ),
    `File ${code(input.file)}${status.digest === undefined ? '' : `, SHA-256 ${code(status.digest)}`}`,
    ...open.slice(0, HOLDS_SHOWN).map((hold) => holdSection(hold, { ownerId, run: side, isEnding })),
    ...(open.length > HOLDS_SHOWN ? [`and ${open.length - HOLDS_SHOWN} more.`] : []),
    refusedMessages({ status }),
    ...(isOver ? [] : [resetTerminateCancel('portfolio')]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function sentence(review: Review, waitingFor: string | undefined): string {
  if (review.isCancelled) return 'It was cancelled. What was on hold stays undecided in the ledger.';
  const { state } = review.status();
  const waiting = waitingFor === undefined ? '' : `; it waits for ${plain(waitingFor)}`;
  return `The review is ${state}${waiting}.`;
}
