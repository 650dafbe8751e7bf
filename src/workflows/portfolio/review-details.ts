/** A review's current details, as Markdown for the Temporal UI; what journeys have in current-details.ts. */

import { portfolioFolder } from '../../messages/portfolio/output-files.ts';
import { reviewStanding } from '../../messages/standing-words.ts';
import { endingSentence } from '../../model/hold-guide.ts';
import { mismatchLine, refusedMessages, resetTerminateCancel, uncheckedDetails } from '../details/current-details.ts';
import { holdSection } from '../details/hold-details.ts';
import { code, listLine, MARKDOWN, pageLink, plain } from '../details/markdown.ts';
import type { Review } from './review.ts';

/** The query `status` and the command line show the rest. */
const HOLDS_SHOWN = 1;

/** Nothing personal is in it. */
export function reviewDetails(review: Review): string {
  const { run } = review;
  if (!run) return uncheckedDetails(review);
  const { ownerId, isEnding, input } = review;
  const status = review.status();
  const { progress } = status;
  const isOver = review.endedAs !== undefined || review.outcome !== undefined;
  const open = review.holds.view.filter(({ isDecided }) => !isDecided);
  const { customerId, runbookUrl } = run;
  const side = { customerId, endUserCode: input.endUserCode, runbookUrl };
  return [
    `**${sentence(review, status.waitingFor)}**${isEnding && !isOver ? ` ${endingSentence('portfolio')}` : ''}`,
    filesAway(review),
    ...open.slice(0, HOLDS_SHOWN).map((hold) => holdSection(hold, { ownerId, run: side, isEnding })),
    ...(open.length > HOLDS_SHOWN
      ? [`and ${open.length - HOLDS_SHOWN} more on hold: \`credit-journey holds\` has all.`]
      : []),
    ...(progress.flagged === undefined
      ? []
      : [mismatchLine(`${progress.flagged} rows, which the result file marks`, runbookUrl)]),
    listLine('Rows', [
      `${progress.done} of ${progress.rows} done`,
      `${progress.record} with a record`,
      `${progress.noRecord} without`,
      `${progress.held} held`,
      `${progress.underWay} under way`,
      progress.badRows === 0 ? '' : `${progress.badRows} bad rows`,
      progress.rowsPerSecond === undefined ? '' : `${progress.rowsPerSecond} a second`,
    ]),
    `File ${code(input.file)}${status.digest === undefined ? '' : `, SHA-256 ${code(status.digest.slice(0, 12))}…`}`,
    refusedMessages({ status }),
    ...(isOver ? [] : [resetTerminateCancel('portfolio')]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What an operator can do about it; where the files are, only the workers know. */
function filesAway({ files, input, run }: Review): string {
  if (files.away === undefined) return '';
  return `## The portfolio’s files cannot be reached: ${plain(files.away)}

Nothing is lost: what cannot be read is not sent, and what cannot be written stays here. Every worker of this task queue needs ${code(`${portfolioFolder(input)}/${input.file}`)} in its \`PORTFOLIO_DIR\`, which must be writable. Put it there: the review asks again every minute, and goes on by itself. ${pageLink('docs/runbook/portfolio-unavailable.md', run?.runbookUrl)}`;
}

function sentence(review: Review, waitingFor: string | undefined): string {
  const state = review.endedAs ?? review.status().state;
  return reviewStanding({ state, ...(waitingFor === undefined ? {} : { waitingFor }) }, MARKDOWN);
}
