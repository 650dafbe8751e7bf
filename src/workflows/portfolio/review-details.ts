/** A review's current details, as Markdown for the Temporal UI; what journeys have in current-details.ts. */

import { TERMINAL_WORDS } from '../../messages/state-words.ts';
import { endingSentence } from '../../model/hold-guide.ts';
import { refusedMessages, resetTerminateCancel, UNCHECKED } from '../details/current-details.ts';
import { holdSection } from '../details/hold-details.ts';
import { code, markdownTable, plain } from '../details/markdown.ts';
import type { Review } from './review.ts';

/** The query `status` and the command line show the rest. */
const HOLDS_SHOWN = 3;

/** Nothing personal is in it. */
export function reviewDetails(review: Review): string {
  const { run } = review;
  if (!run) return UNCHECKED[review.endedUnchecked ? 'endedUnchecked' : 'beingChecked'];
  const { ownerId, isEnding, input } = review;
  const status = review.status();
  const { progress } = status;
  const isOver = review.endedAs !== undefined || review.outcome !== undefined;
  const open = review.holds.view.filter(({ isDecided }) => !isDecided);
  const side = { customerId: run.customerId, endUserCode: input.endUserCode };
  return [
    `**${sentence(review, status.waitingFor)}**${isEnding && !isOver ? ` ${endingSentence('portfolio')}` : ''}`,
    markdownTable(
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
    filesAway(review),
    ...open.slice(0, HOLDS_SHOWN).map((hold) => holdSection(hold, { ownerId, run: side, isEnding })),
    ...(open.length > HOLDS_SHOWN ? [`and ${open.length - HOLDS_SHOWN} more.`] : []),
    refusedMessages({ status }),
    ...(isOver ? [] : [resetTerminateCancel('portfolio')]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What an operator can do about it; where the files are, only the workers know. */
function filesAway({ files, input }: Review): string {
  if (files.away === undefined) return '';
  return `## The portfolio’s files cannot be reached: ${plain(files.away)}

Nothing is lost: what cannot be read is not sent, and what cannot be written stays here. Every worker of this task queue needs ${code(input.file)} in its \`PORTFOLIO_DIR\`, which must be writable. Put it there: the review asks again every minute, and goes on by itself. \`docs/runbook/portfolio-unavailable.md\``;
}

function sentence(review: Review, waitingFor: string | undefined): string {
  if (review.endedAs) return TERMINAL_WORDS[review.endedAs].end;
  const { state } = review.status();
  const waiting = waitingFor === undefined ? '' : `; it waits for ${plain(waitingFor)}`;
  return `The review is ${state}${waiting}.`;
}
