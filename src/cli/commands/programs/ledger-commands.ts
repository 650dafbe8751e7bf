/** `audit`, `ledger` and `dispose`: commands about the ledger as a whole. */
import { z } from 'zod';
import { parseDurationMs } from '../../../base/instants.ts';
import { getMessageFields } from '../../../fields/fields.ts';
import { parseWith } from '../../../fields/problems.ts';
import type { Authorization } from '../../../ledger/orders.ts';
import { ConfigError } from '../../../model/problems.ts';
import type { ComparedRun } from '../../../operator/compare-with-temporal.ts';
import type { DisposalContext, DisposalSelection, FinishedDisposal } from '../../../operator/disposal.ts';
import { EXIT, toErrorFacts, UsageError } from '../../output/errors.ts';
import { listSchemaMembers } from '../../output/schema-options.ts';
import { type CommandRow, type Context, parseSince, parseWholeNumber, RUN_ID } from '../command.ts';

const { by, reason } = getMessageFields().signature;
const authorization = z.object({ by: by.describe('The person who asks for it; the ledger keeps the name.'), reason });
const AUTHORIZATION = listSchemaMembers([authorization]);
type AuthorizationOptions = Partial<z.infer<typeof authorization>>;

/** @throws InvalidInputError */
export function readAuthorization(options: AuthorizationOptions): Authorization {
  return parseWith(authorization, options);
}

interface DisposeOptions extends AuthorizationOptions {
  olderThan?: string;
  limit: number;
  dryRun?: boolean;
  yes?: boolean;
}

const MAX_LIMIT = 10_000;

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'audit verify',
    description:
      'check every consent and decision against the audit chain: exits with 3 if anything does not fit, or attempts are missing',
    options: [['--expect-head <hash>', 'an earlier head that was kept elsewhere: the chain must contain it']],
    examples: ['credit-journey audit verify'],
    async run({ options, connect, openLedger }: Context<{ expectHead?: string }>) {
      const expectHead = options.expectHead?.toLowerCase();
      if (expectHead !== undefined && !/^[0-9a-f]{64}$/.test(expectHead)) {
        throw new UsageError('--expect-head must be 64 hexadecimal digits');
      }
      const ledger = await openLedger();
      const { ledgerId } = ledger.identity;
      const outside = await askWatch(ledgerId, connect);
      const { lost } = await ledger.restoreState(outside?.highWaterMark);
      const report = await ledger.verifyChain({ expectHead });
      const restores = await ledger.restores();
      const isWhole = report.findings.length === 0 && !lost;
      return {
        answer: {
          ledgerId,
          ...report,
          watch: outside ? 'asked' : 'notAsked',
          lost,
          ...(restores.length > 0 && { restores }),
        },
        exitCode: isWhole ? EXIT.done : EXIT.needsPerson,
      };
    },
  },
  {
    name: 'ledger compare',
    description:
      'after Temporal has lost recent history: list the runs that it lost (exits with 3 if any), and what open runs may have lost',
    options: [
      ['--since <when>', 'an instant before the lost history, or how long ago (PT15M)'],
      ['--send-consents', 'have open runs read their consents since then from the ledger'],
    ],
    examples: ['credit-journey ledger compare --since PT15M'],
    async run({ options, connect }: Context<{ since?: string; sendConsents?: true }>) {
      const since = parseSince(options.since);
      if (since === undefined) throw new UsageError('--since is required: it says from when on to compare');
      const journeys = await connect({ besideLedger: true });
      const client = journeys.getSdkClient();
      const { compareWithTemporal, sendConsents } = await import('../../../operator/compare-with-temporal.ts');
      const compared = await compareWithTemporal(client, await journeys.getLedger(), since);
      const consents = options.sendConsents ? await sendConsents(client, compared.runs) : undefined;
      const kinds = new Set(compared.runs.map(({ kind }) => kind));
      const compareCode = kinds.has('noRun') ? EXIT.needsPerson : EXIT.done;
      return {
        answer: { ...compared, consents },
        next: [...kinds].map((kind) => `${kind}: ${NEXT_STEP[kind]}`),
        exitCode: consents && consents.failed.length > 0 ? EXIT.failed : compareCode,
      };
    },
  },
  {
    name: 'ledger accept-restore',
    description: 'accept an older copy of the ledger: workers claim attempts again, from what the copy has',
    members: AUTHORIZATION,
    common: ['output'],
    examples: ['credit-journey ledger accept-restore --by ops-7 --reason "ticket 4711: the disk was lost"'],
    async run({ options, openLedger }: Context<AuthorizationOptions>) {
      const signature = readAuthorization(options);
      const ledger = await openLedger();
      const { ledgerId } = ledger.identity;
      const { newest, lost } = await ledger.acceptRestore(ledgerId, signature);
      return { answer: { ledgerId, newest, lost } };
    },
  },
  {
    name: 'dispose',
    description: 'destroy the data of journeys, for good; --dry-run shows what would go',
    arguments: [['[id]', RUN_ID]],
    options: [
      ['--older-than <duration>', 'journeys whose newest attempt or answer is older, in days (P760D)'],
      ['--limit <count>', `with --older-than: at most this many at once, up to ${MAX_LIMIT}`, parseWholeNumber, 1_000],
      ['--dry-run', 'show what would go, and what would stay and why; change nothing'],
      ['--yes', 'dispose of what is planned'],
    ],
    members: AUTHORIZATION,
    examples: ['credit-journey dispose --older-than P760D --dry-run'],
    async run({ args, options, connect, openLedger }: Context<DisposeOptions>) {
      const selection = readSelection(args.id, options);
      if (!options.dryRun) readAuthorization(options);
      const journeys = await connect({ besideLedger: true });
      return runDisposal({ client: journeys.getSdkClient(), ledger: await openLedger() }, selection, options);
    },
  },
];

/** Short, since a running server answers at once. */
const WATCH_TIMEOUT_MS = 3_000;

/** `undefined` where Temporal cannot be asked: the ledger's own findings are printed all the same. */
async function askWatch(ledgerId: string, connect: Context['connect']) {
  const { readWatchedAttempt } = await import('../../../client/connection/temporal-runs.ts');
  try {
    const journeys = await connect({ besideLedger: true, connectTimeoutMs: WATCH_TIMEOUT_MS });
    const client = journeys.getSdkClient();
    const named = { ledgerId, taskQueue: journeys.taskQueue };
    const until = Date.now() + WATCH_TIMEOUT_MS;
    return { highWaterMark: await client.withDeadline(until, () => readWatchedAttempt(client, named)) };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    return undefined;
  }
}

/** Suggests a safe next step: no command in it sends an inquiry that the ledger has as sent. */
const NEXT_STEP: Record<ComparedRun['kind'], string> = {
  noRun: 'start it again under the same id with the same input: the ledger answers for what was sent',
  open: 'once workers run, it asks again by itself, and the ledger answers; where it waits at a gate, for a decision or for consent, send the same message again',
};

function readSelection(runKey: string | undefined, { olderThan, limit }: DisposeOptions): DisposalSelection {
  if ((runKey === undefined) === (olderThan === undefined)) {
    throw new UsageError('give either an id or --older-than');
  }
  if (runKey !== undefined) return { runKey };
  const olderThanMs = parseDurationMs(olderThan ?? '');
  if (olderThanMs === null) throw new UsageError('--older-than must be a duration in days and time, such as P760D');
  if (limit < 1 || limit > MAX_LIMIT) throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}`);
  return { olderThanMs, limit };
}

async function runDisposal(context: DisposalContext, selection: DisposalSelection, options: DisposeOptions) {
  const { disposeItem, planDisposal } = await import('../../../operator/disposal.ts');
  const { retention } = context.ledger;
  const plan = await planDisposal(context, selection);
  const { planned, more, disposedAt } = plan;
  if (options.dryRun || (planned.length > 0 && !options.yes)) {
    const answer = { dryRun: true, ...plan };
    // A script asks so whether the journey may go.
    const mayNotGo = 'runKey' in selection && plan.refused.length > 0;
    if (options.dryRun) return { answer, exitCode: mayNotGo ? EXIT.failed : EXIT.done };
    return { answer, problem: new UsageError(`nothing was disposed of: --yes disposes of these ${planned.length}`) };
  }
  const signature = readAuthorization(options);
  const disposed: FinishedDisposal[] = [];
  const refused = [...plan.refused];
  // An error stops the disposal early. Running the command again continues it.
  let stoppedBy: ReturnType<typeof toErrorFacts> | undefined;
  for (const { runKey } of planned) {
    try {
      const done = await disposeItem(context, runKey, signature);
      if ('finished' in done) disposed.push(done.finished);
      else refused.push(done.refused);
    } catch (error) {
      // Temporal or the ledger is away: so it would be for all the others.
      stoppedBy = toErrorFacts(error);
      break;
    }
  }
  // Runs even if no record was left, since an earlier process may have ended before this step.
  const isUntouched = planned.length === 0 && plan.refused.length > 0;
  const scrubbed = isUntouched || (await retention.scrub().catch(() => false));
  const unfinished = await retention.unfinished().catch(() => []);
  // By age, refused journeys are left for the next time. If one is named by its id, its refusal is a failure.
  const hasFailed = stoppedBy !== undefined || ('runKey' in selection && refused.length > 0);
  const doneCode = scrubbed ? EXIT.done : EXIT.needsPerson;
  return {
    answer: { disposed, refused, stoppedBy, disposedAt, scrubbed, more, unfinished },
    exitCode: hasFailed ? EXIT.failed : doneCode,
  };
}
