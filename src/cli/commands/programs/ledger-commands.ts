/** `audit`, `ledger` and `dispose`: commands about the ledger as a whole. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { z } from 'zod';
import { omitUndefined } from '../../../base/defined.ts';
import { parseDurationMs } from '../../../base/instants.ts';
import { getMessageFields } from '../../../fields/fields.ts';
import { parseWith } from '../../../fields/problems.ts';
import type { Authorization } from '../../../ledger/orders.ts';
import type { ComparedRun } from '../../../operator/compare-with-temporal.ts';
import type { DisposalContext, DisposalSelection, FinishedDisposal } from '../../../operator/disposal.ts';
import {
  connectOptions,
  type OutputOptions,
  RUN_ID,
  type ServerOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../../output/common-options.ts';
import { getErrorType, UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, formatDocument, type Output, wrap } from '../../output/output.ts';
import { withTypedProblems } from '../../output/schema-options.ts';
import { requireRunKey, withJourneys, withLedger } from '../connections.ts';
import { parseSince } from '../work-filters.ts';
import { parseWholeNumber } from './service.ts';

interface AuthorizationOptions {
  by?: string;
  reason?: string;
}

function withAuthorizationOptions(command: Command): Command {
  return command
    .option('--by <name>', 'who asks for it; kept in the ledger')
    .option('--reason <text>', 'why; kept in the ledger, so nothing personal about the consumer');
}

/** @throws InvalidInputError */
export function readAuthorization({ by, reason }: AuthorizationOptions): Authorization {
  const names = { '/by': '--by', '/reason': '--reason' };
  const schema = z.object(getMessageFields().signature);
  return withTypedProblems(names, {}, () => parseWith(schema, omitUndefined({ by, reason })));
}

interface VerifyOptions extends ServerOptions {
  expectHead?: string;
}

export function registerAuditCommand(program: Command): void {
  const audit = program.command('audit').description('check the ledger against its audit chain');
  const verify = audit
    .command('verify')
    .description(
      'check every consent and decision against the audit chain: exits with 3 if anything does not fit, or attempts are missing',
    )
    .option('--expect-head <hash>', 'an earlier head that was kept elsewhere: the chain must contain it');
  withExamples(withServerOptions(verify), 'credit-journey audit verify');
  verify.action(async (options: VerifyOptions) => {
    const expectHead = options.expectHead?.toLowerCase();
    if (expectHead !== undefined && !/^[0-9a-f]{64}$/.test(expectHead)) {
      throw new UsageError('--expect-head must be 64 hexadecimal digits');
    }
    await withLedger(async (ledger) => {
      const { ledgerId } = ledger.identity;
      const outside = await askWatch(ledgerId, options);
      const { lost } = await ledger.restoreState(outside?.highWaterMark);
      const report = await ledger.verifyChain(omitUndefined({ expectHead }));
      const watch = outside ? 'asked' : 'notAsked';
      createOutput(options).answer({ ledgerId, ...report, watch, ...omitUndefined({ lost }) });
      if (report.findings.length > 0 || lost) process.exitCode = EXIT.needsPerson;
    });
  });
}

/** Short, since a running server answers at once. */
const WATCH_TIMEOUT_MS = 3_000;

/** `undefined` where Temporal cannot be asked: the ledger's own findings are printed all the same. */
async function askWatch(ledgerId: string, options: ServerOptions) {
  const [{ CreditJourneys, getSdkClient }, { readWatchedAttempt }] = await Promise.all([
    import('../../../client/credit-journeys.ts'),
    import('../../../client/connection/describe-run.ts'),
  ]);
  try {
    await using journeys = await CreditJourneys.connect({
      connectTimeoutMs: WATCH_TIMEOUT_MS,
      ...connectOptions(options),
      besideLedger: true,
    });
    const { taskQueue } = journeys;
    const client = getSdkClient(journeys);
    const until = Date.now() + WATCH_TIMEOUT_MS;
    const highWaterMark = await client.withDeadline(until, () => readWatchedAttempt(client, { ledgerId, taskQueue }));
    return highWaterMark ? { highWaterMark } : {};
  } catch {
    return undefined;
  }
}

interface CompareOptions extends ServerOptions {
  since?: string;
  sendConsents?: true;
}

function registerLedgerCompare(ledger: Command): void {
  const compare = ledger
    .command('compare')
    .description(
      'after Temporal has lost recent history: list the runs that it lost (exits with 3 if any), and what open runs may have lost',
    )
    .option('--since <when>', 'an instant before the lost history, or how long ago (PT15M)')
    .option('--send-consents', 'have open runs read their consents since then from the ledger');
  withExamples(withServerOptions(compare), 'credit-journey ledger compare --since PT15M');
  compare.action(async (options: CompareOptions) => {
    const since = parseSince(options.since);
    if (since === undefined) throw new UsageError('--since is required: it says from when on to compare');
    await withJourneys(
      options,
      async (journeys, output, client) => {
        const { compareWithTemporal, sendConsents } = await import('../../../operator/compare-with-temporal.ts');
        const compared = await compareWithTemporal(client, await journeys.getLedger(), since);
        const consents = options.sendConsents ? await sendConsents(client, compared.runs) : undefined;
        const document = { ...compared, ...omitUndefined({ consents }) };
        const kinds = new Set(compared.runs.map(({ kind }) => kind));
        output.answer(document, () => [
          ...formatDocument(document, output.width),
          ...[...kinds].flatMap((kind) => wrap(`${kind}: ${NEXT_STEP[kind]}`, output.width)),
        ]);
        if (compared.runs.some(({ kind }) => kind === 'noRun')) process.exitCode = EXIT.needsPerson;
        if (consents && consents.failed.length > 0) process.exitCode = EXIT.failed;
      },
      { besideLedger: true },
    );
  });
}

/** Suggests a safe next step: no command in it sends an inquiry that the ledger has as sent. */
const NEXT_STEP: Record<ComparedRun['kind'], string> = {
  noRun: 'start it again under the same id with the same input: the ledger answers for what was sent',
  open: 'once workers run, it asks again by itself, and the ledger answers; where it waits at a gate, for a decision or for consent, send the same message again',
};

interface AcceptOptions extends OutputOptions, AuthorizationOptions {}

export function registerLedgerCommand(program: Command): void {
  const ledger = program
    .command('ledger')
    .description('compare the ledger with Temporal, or accept an older copy of it');
  registerLedgerCompare(ledger);
  const accept = ledger
    .command('accept-restore')
    .description('accept an older copy of the ledger: workers claim attempts again, from what the copy has');
  withExamples(
    withOutputOptions(withAuthorizationOptions(accept)),
    'credit-journey ledger accept-restore --by ops-7 --reason "ticket 4711: the disk was lost"',
  );
  accept.action(async (options: AcceptOptions) => {
    const { by, reason } = readAuthorization(options);
    await withLedger(async (ledger) => {
      const { ledgerId } = ledger.identity;
      const { newest, lost } = await ledger.acceptRestore(ledgerId, {
        acceptanceId: `accept-${randomUUID()}`,
        by,
        reason,
      });
      createOutput(options).answer({ ledgerId, ...omitUndefined({ newest, lost }) });
    });
  });
}

interface DisposeOptions extends ServerOptions, AuthorizationOptions {
  olderThan?: string;
  limit: number;
  dryRun?: boolean;
  yes?: boolean;
}

const MAX_LIMIT = 10_000;

export function registerDisposeCommand(program: Command): void {
  const command = withAuthorizationOptions(
    program
      .command('dispose')
      .description('destroy the data of journeys, for good; --dry-run shows what would go')
      .argument('[id]', RUN_ID)
      .option('--older-than <duration>', 'journeys whose newest attempt or answer is older, in days (P760D)')
      .option(
        '--limit <count>',
        `with --older-than: at most this many at once, up to ${MAX_LIMIT}`,
        parseWholeNumber,
        1_000,
      )
      .option('--dry-run', 'show what would go, and what would stay and why; change nothing')
      .option('--yes', 'dispose of what is planned'),
  );
  withExamples(withServerOptions(command), 'credit-journey dispose --older-than P760D --dry-run');
  command.action(async (runKey: string | undefined, options: DisposeOptions) => {
    const selection = readSelection(runKey, options);
    if (!options.dryRun) readAuthorization(options);
    await withJourneys(
      options,
      (_, output, client) =>
        withLedger(async (ledger) => {
          process.exitCode = await runDisposal({ client, ledger }, selection, options, output);
        }),
      { besideLedger: true },
    );
  });
}

function readSelection(runKey: string | undefined, { olderThan, limit }: DisposeOptions): DisposalSelection {
  if ((runKey === undefined) === (olderThan === undefined)) {
    throw new UsageError('give either an id or --older-than');
  }
  if (runKey !== undefined) {
    requireRunKey(runKey);
    return { runKey };
  }
  const olderThanMs = parseDurationMs(olderThan ?? '');
  if (olderThanMs === null) throw new UsageError('--older-than must be a duration in days and time, such as P760D');
  if (limit < 1 || limit > MAX_LIMIT) throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}`);
  return { olderThanMs, limit };
}

async function runDisposal(
  context: DisposalContext,
  selection: DisposalSelection,
  options: DisposeOptions,
  output: Output,
): Promise<number> {
  const { disposeItem, planDisposal } = await import('../../../operator/disposal.ts');
  const { retention } = context.ledger;
  const plan = await planDisposal(context, selection);
  const { planned, more, disposedAt } = plan;
  if (options.dryRun || (planned.length > 0 && !options.yes)) {
    output.answer({ dryRun: true, ...plan });
    if (options.dryRun) return EXIT.done;
    throw new UsageError(`nothing was disposed of: --yes disposes of these ${planned.length}`);
  }
  const authorization = readAuthorization(options);
  const disposed: FinishedDisposal[] = [];
  const refused = [...plan.refused];
  // An error stops the disposal early. Running the command again continues it.
  let stoppedBy: { type: string; message: string } | undefined;
  for (const { runKey } of planned) {
    try {
      const done = await disposeItem(context, runKey, authorization);
      if ('finished' in done) disposed.push(done.finished);
      else refused.push(done.refused);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // Temporal or the ledger is away: so it would be for all the others.
      stoppedBy = { type: getErrorType(error), message: error.message };
      break;
    }
  }
  // Runs even if no record was left, since an earlier process may have ended before this step.
  const isUntouched = planned.length === 0 && plan.refused.length > 0;
  const scrubbed = isUntouched || (await retention.scrub().catch(() => false));
  const unfinished = await retention.unfinished().catch(() => []);
  output.answer({ disposed, refused, ...omitUndefined({ stoppedBy, disposedAt }), scrubbed, more, unfinished });
  // By age, refused journeys are left for the next time. If one is named by its id, its refusal is a failure.
  if (stoppedBy !== undefined || ('runKey' in selection && refused.length > 0)) return EXIT.failed;
  return scrubbed ? EXIT.done : EXIT.needsPerson;
}
