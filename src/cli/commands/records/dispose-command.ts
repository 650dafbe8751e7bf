/** `dispose`: destroys records that were kept long enough. */
import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import { parseDurationMs } from '../../../base/instants.ts';
import { PRODUCTS } from '../../../model/products.ts';
import type {
  DisposalContext,
  DisposalPlan,
  DisposalSelection,
  FinishedDisposal,
  RefusedDisposal,
} from '../../../operator/disposal.ts';
import {
  type AuthorizationOptions,
  checkedAuthorization,
  withAuthorizationOptions,
} from '../../decisions/authorization.ts';
import { requireRunKey, withJourneys } from '../../decisions/journey-action.ts';
import { RUN_ID, type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { documentLines, type Output } from '../../output/output.ts';
import { createPrompter, isAsking } from '../../output/prompts.ts';
import { withLedger } from '../with-ledger.ts';

interface DisposeOptions extends ServerOptions, AuthorizationOptions {
  olderThan?: string;
  product?: string;
  limit: string;
  dryRun?: boolean;
  yes?: boolean;
}

const MAX_LIMIT = 10_000;

/** Copies that no command can reach, for people and for records of the disposal. */
const COPIES: readonly string[] = [
  'backups of the ledger: its file or database; on PostgreSQL also WAL archives and standbys',
  'on PostgreSQL, freed space in the database’s own files, until it is used again or VACUUM FULL has rewritten them',
  'backups and archives of Temporal’s database (payloads in it are encrypted)',
  'copies of the key ring: a report in a backup opens only with the ledger key that its own key was wrapped under; ' +
    'after `keys rotate` and `keys rewrap`, destroying every copy of the retired key closes it for good',
];

export function registerDisposeCommand(program: Command): void {
  const command = withAuthorizationOptions(
    program
      .command('dispose')
      .description('destroy the data of journeys, for good; --dry-run shows what would go')
      .argument('[id]', RUN_ID)
      .option('--older-than <duration>', 'journeys whose newest attempt or answer is older, in days (P760D)')
      .option('--product <productCode>', 'with --older-than: only what belongs to this product')
      .option('--limit <count>', `with --older-than: at most this many at once, up to ${MAX_LIMIT}`, '1000')
      .option('--dry-run', 'show what would go, and what would stay and why; change nothing')
      .option('--yes', 'do not ask for confirmation'),
  );
  withExamples(withServerOptions(command), 'credit-journey dispose --older-than P760D --dry-run');
  command.action(async (runKey: string | undefined, options: DisposeOptions) => {
    const selection = readSelection(runKey, options);
    if (!options.dryRun) checkedAuthorization(options);
    await withJourneys(
      options,
      (_, output, client) =>
        withLedger(async (ledger) => {
          process.exitCode = await run({ client, ledger }, selection, options, output);
        }),
      { besideLedger: true },
    );
  });
}

function readSelection(runKey: string | undefined, { olderThan, product, limit }: DisposeOptions): DisposalSelection {
  if ((runKey === undefined) === (olderThan === undefined)) {
    throw new UsageError('give an id or --older-than, one of them');
  }
  if (runKey !== undefined) {
    if (product !== undefined) throw new UsageError('--product belongs to --older-than');
    requireRunKey(runKey);
    return { runKey };
  }
  const olderThanMs = parseDurationMs(olderThan ?? '');
  if (olderThanMs === null) throw new UsageError('--older-than must be a duration in days and time, such as P760D');
  const productCode = PRODUCTS.find((candidate) => candidate === product);
  if (product !== undefined && !productCode) throw new UsageError(`--product must be one of ${PRODUCTS.join(', ')}`);
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1 || most > MAX_LIMIT) {
    throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  return { olderThanMs, limit: most, ...omitUndefined({ productCode }) };
}

async function run(
  context: DisposalContext,
  selection: DisposalSelection,
  options: DisposeOptions,
  output: Output,
): Promise<number> {
  const { planDisposal } = await import('../../../operator/disposal.ts');
  const plan = await planDisposal(context, selection);
  if (options.dryRun) {
    output.answer({ dryRun: true, ...plan, sharesLeft: listSharesLeft([...plan.planned, plan]) });
    return EXIT.done;
  }
  if (plan.planned.length > 0 && !options.yes && !(await isAgreed(plan, output))) return EXIT.needsPerson;
  const result = await disposeEach(context, plan, options, output);
  return toExitCode(result, selection);
}

/** Asks on a terminal. Elsewhere it only prints the plan. */
async function isAgreed(plan: DisposalPlan, output: Output): Promise<boolean> {
  const count = plan.planned.length;
  if (!isAsking(output)) {
    output.answer(plan);
    throw new UsageError(`nothing was disposed of: --yes disposes of these ${count}`);
  }
  const prompter = createPrompter();
  try {
    prompter.say([...documentLines(plan, output.width), '', 'This cannot be undone.']);
    const text = await prompter.line(`Type ${count} to dispose of ${count === 1 ? 'it' : `these ${count}`}`);
    if (text === String(count)) return true;
    output.note('nothing was disposed of');
    return false;
  } finally {
    prompter.close();
  }
}

interface Disposed {
  disposed: FinishedDisposal[];
  refused: RefusedDisposal[];
  /** The error that stopped the disposal early. Running the command again continues it. */
  stoppedBy?: { type: string; message: string };
  /** Whether the data is also gone from the ledger's own files. */
  scrubbed: boolean;
}

async function disposeEach(
  context: DisposalContext,
  plan: DisposalPlan,
  options: DisposeOptions,
  output: Output,
): Promise<Disposed> {
  const { disposeItem } = await import('../../../operator/disposal.ts');
  const authorization = checkedAuthorization(options);
  const result: Disposed = { disposed: [], refused: [...plan.refused], scrubbed: false };
  for (const planned of plan.planned) {
    try {
      const done = await disposeItem(context, planned, authorization);
      if ('finished' in done) result.disposed.push(done.finished);
      else result.refused.push(done.refused);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // Temporal or the ledger is away: so it would be for all the others.
      result.stoppedBy = { type: error.name, message: error.message };
      break;
    }
  }
  // Also where nothing was left to be disposed of: the process that did it may have ended before this.
  const isUntouched = plan.planned.length === 0 && plan.refused.length > 0;
  result.scrubbed = isUntouched || (await context.ledger.retention.scrub().catch(() => false));
  const { more, disposedAt, shares } = plan;
  const { disposed, refused, stoppedBy, scrubbed } = result;
  const sharesLeft = listSharesLeft([...disposed, { ...omitUndefined({ shares }) }]);
  const facts = { disposed, refused, ...omitUndefined({ stoppedBy, disposedAt }), sharesLeft, scrubbed, more };
  output.answer({ ...facts, unfinished: await listUnfinished(context), copies: COPIES });
  return result;
}

/** Shares that were made by themselves stay, until each is disposed of by its own id. */
export function listSharesLeft(
  disposals: readonly { runKey?: string; shares?: string[] }[],
): { runKey: string; command: string }[] {
  const going = new Set(disposals.map(({ runKey }) => runKey));
  const runKeys = new Set(disposals.flatMap(({ shares = [] }) => shares).filter((runKey) => !going.has(runKey)));
  return [...runKeys].map((runKey) => ({ runKey, command: `credit-journey dispose ${runKey}` }));
}

async function listUnfinished({ ledger }: DisposalContext): Promise<DisposalPlan['unfinished']> {
  const scopes = await ledger.retention.unfinished().catch(() => []);
  return scopes.map(({ runKey, productCode }) => ({ runKey, ...omitUndefined({ productCode }) }));
}

/** By age, refused journeys are left for the next time. If one is named by its id, its refusal is a failure. */
function toExitCode({ refused, stoppedBy, scrubbed }: Disposed, selection: DisposalSelection): number {
  if (stoppedBy !== undefined || ('runKey' in selection && refused.length > 0)) return EXIT.failed;
  return scrubbed ? EXIT.done : EXIT.needsPerson;
}
