/** Disposals and legal holds in words: planned and finished disposals, obstacles, and copies out of reach. */
import type { LegalHold } from '../../ledger/retention/retention.ts';
import type { DisposalPlan, FinishedDisposal, PlannedDisposal, RefusedDisposal } from '../../operator/disposal.ts';
import { type Output, table, wrap } from './output.ts';

/** Enough to recognize them; `--json` has all. */
const MAX_SHOWN = 20;

type Obstacle = RefusedDisposal['obstacles'][number];

const WORDS: Record<Exclude<Obstacle['reason'], 'legalHold'>, string> = {
  sending: 'an attempt may still be answered',
  undecided: 'an inquiry waits for a decision: `credit-journey holds`',
  attention: 'no operator has seen to something that came too late: `credit-journey holds`',
  runOpen: 'a run of it is open in Temporal',
  runsRemain: 'Temporal has not deleted its runs in time: run it again',
};

/** Copies that no command can reach, for people and for records of the disposal. */
export const COPIES: readonly string[] = [
  'backups of the ledger: its file or database; on PostgreSQL also WAL archives and standbys',
  'on PostgreSQL, freed space in the database’s own files, until it is used again or VACUUM FULL has rewritten them',
  'backups and archives of Temporal’s database (payloads in it are encrypted)',
  'copies of the key ring: a report in a backup opens only with the ledger key that its own key was wrapped under; ' +
    'after `keys rotate` and `keys rewrap`, destroying every copy of the retired key closes it for good',
];

function obstacleWords({ obstacles }: RefusedDisposal): string[] {
  return obstacles.map((obstacle) => {
    if (obstacle.reason === 'legalHold') return holdWords(obstacle.hold);
    const of = 'customerTraceNumber' in obstacle ? ` (${obstacle.customerTraceNumber})` : '';
    return `${WORDS[obstacle.reason]}${of}`;
  });
}

/** Says what of a disposal that was stopped on its way cannot be taken back. */
function historyWords({ histories }: RefusedDisposal): string[] {
  if (histories === 0) return [];
  return [`${histories} histories were deleted from Temporal before; what the ledger holds is kept`];
}

export function planLines(plan: DisposalPlan, output: Output): string[] {
  const { planned, refused, more, unfinished, disposedAt } = plan;
  const { width } = output;
  const nothing = disposedAt === undefined ? 'nothing is to be disposed of' : `disposed of since ${disposedAt}`;
  return [
    ...(planned.length === 0 ? (refused.length === 0 ? [nothing] : []) : plannedLines(planned, width)),
    ...(more ? ['There are more: run it again after these, or raise --limit.'] : []),
    ...refusedLines(refused, output),
    ...shareLines([...planned, plan], output),
    ...(unfinished.length > 0
      ? wrap(
          `begun and not finished: ${unfinished.map(describeName).join(', ')}. Run it again with the same selection.`,
          width,
        )
      : []),
  ];
}

function plannedLines(planned: readonly PlannedDisposal[], width: number): string[] {
  const shown = planned.slice(0, MAX_SHOWN);
  const delivering = shown.filter((disposal) => disposal.delivering).map(describeName);
  const rows = shown.map((disposal) => [
    describeName(disposal),
    String(disposal.inquiries),
    String(disposal.reports),
    String(disposal.runs),
    disposal.newestAt ?? '',
    ...(disposal.begunAt === undefined ? [] : ['begun before']),
  ]);
  return [
    ...table([['JOURNEY', 'INQUIRIES', 'REPORTS', 'RUNS', 'NEWEST'], ...rows], width),
    ...(planned.length > MAX_SHOWN ? [`and ${planned.length - MAX_SHOWN} more`] : []),
    ...(delivering.length > 0
      ? wrap(`Events that no endpoint has taken yet are dropped: ${delivering.join(', ')}`, width)
      : []),
    `${planned.length} to be disposed of`,
  ];
}

function refusedLines(refused: readonly RefusedDisposal[], { colors, width }: Output): string[] {
  if (refused.length === 0) return [];
  const shown = refused
    .slice(0, MAX_SHOWN)
    .flatMap((disposal) =>
      wrap(
        `${describeName(disposal)}: ${[...obstacleWords(disposal), ...historyWords(disposal)].join('; ')}`,
        width,
        '  ',
      ),
    );
  const rest = refused.length > MAX_SHOWN ? [`  and ${refused.length - MAX_SHOWN} more`] : [];
  return [colors.yellow(`${refused.length} may not go:`), ...shown, ...rest];
}

export function resultLines(
  result: {
    disposed: FinishedDisposal[];
    refused: RefusedDisposal[];
    stoppedBy?: { message: string };
    scrubbed: boolean;
    more: boolean;
    disposedAt?: string;
    shares?: string[];
  },
  output: Output,
): string[] {
  const { disposed, refused, stoppedBy, scrubbed, more, disposedAt } = result;
  const { colors, width } = output;
  const sum = (count: (disposal: FinishedDisposal) => number) =>
    disposed.reduce((total, disposal) => total + count(disposal), 0);
  const counts = `${sum((disposal) => disposal.inquiries)} inquiries, ${sum((disposal) => disposal.reports)} reports, ${sum((disposal) => disposal.runs)} runs`;
  return [
    ...(disposed.length > 0 ? [colors.green(`disposed of ${disposed.length} (${counts})`)] : []),
    ...(disposedAt === undefined ? [] : [`disposed of since ${disposedAt}: nothing was left`]),
    ...(disposed.length === 0 && refused.length === 0 && disposedAt === undefined && !stoppedBy
      ? ['nothing is to be disposed of']
      : []),
    ...refusedLines(refused, output),
    ...shareLines([...disposed, result], output),
    ...(stoppedBy ? wrap(`stopped: ${stoppedBy.message}. Run it again to continue.`, width) : []),
    ...(more ? ['There are more: do it again.'] : []),
    ...(scrubbed
      ? []
      : wrap(
          'The ledger’s files still hold what was destroyed: another connection is reading it, or this role may not VACUUM. Run it again.',
          width,
        ).map(colors.yellow)),
  ];
}

/** Owners of their own: what they posted, and under which reference, is theirs. */
function shareLines(
  of: readonly { runKey?: string; shares?: string[] }[],
  { colors, width }: Pick<Output, 'colors' | 'width'>,
): string[] {
  // By age one may be old enough too.
  const going = new Set(of.map(({ runKey }) => runKey));
  const runKeys = [...new Set(of.flatMap(({ shares = [] }) => shares))].filter((runKey) => !going.has(runKey));
  if (runKeys.length === 0) return [];
  const shown = runKeys.slice(0, MAX_SHOWN).map((runKey) => `  credit-journey dispose ${runKey}`);
  const rest = runKeys.length > MAX_SHOWN ? [`  and ${runKeys.length - MAX_SHOWN} more`] : [];
  const words = 'Shares of these reports that were made by themselves stay, until each is disposed of by its own id:';
  return [...wrap(words, width).map(colors.yellow), ...shown, ...rest];
}

export function copyLines({ width }: Output): string[] {
  return ['Out of reach, and perhaps still holding it:', ...COPIES.flatMap((copy) => wrap(`- ${copy}`, width, '  '))];
}

function describeName({ runKey, productCode }: { runKey: string; productCode?: string }): string {
  return productCode === undefined ? runKey : `${runKey} ${productCode}`;
}

/** Names a hold that prevents a disposal. */
function holdWords({ journeyId, matter, by }: LegalHold): string {
  return `${journeyId} is under a legal hold for matter ${matter}, set by ${by}`;
}
