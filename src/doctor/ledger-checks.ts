/** The ledger: the right one, no older copy, nothing that it confirms can be lost, and not paused. */
import { Client } from '@temporalio/client';
import { readWatchedAttempt } from '../client/connection/temporal-runs.ts';
import { judgeDurability } from '../ledger/database/durability.ts';
import { LedgerNotFoundError, LedgerSchemaError, LedgerUnavailableError } from '../ledger/errors.ts';
import { inspect, type LedgerInspection } from '../ledger/inspect-ledger.ts';
import { describePause } from '../ledger/pauses.ts';
import { readRestore } from '../ledger/restores.ts';
import type { HighWaterMark } from '../model/ledger-watch.ts';
import { createDataConverter } from '../protection/payloads/data-converter.ts';
import { countWords } from '../words/writer.ts';
import { type DoctorContext, defineCheck, type Finding, fail, pass, warn } from './check.ts';

/** Checks for an older copy by the watch's record, even before any worker has started on the ledger. */
export const ledgerWatchCheck = defineCheck('ledger-watch', ['TEMPORAL_', 'TASK_QUEUE', 'LEDGER_'], async (context) => {
  const { ledgerId } = await context.content();
  const highWaterMark = await readHighWaterMark(context, ledgerId);
  if (!highWaterMark) return pass('no worker has watched an attempt of this ledger yet');
  const { lost } = await inspect(context.config.ledger.url, (tx) => readRestore(tx, highWaterMark));
  return lost ? toOlderCopyFinding(lost) : pass('the ledger has the newest attempt that workers have seen');
});

function toOlderCopyFinding({ claimedAt }: HighWaterMark): Finding {
  return fail(
    `it is an older copy: it lacks an attempt of ${claimedAt}, and nothing is sent`,
    'bring the newest copy back; where there is none, docs/runbook/ledger-restored.md',
  );
}

async function readHighWaterMark(context: DoctorContext, ledgerId: string): Promise<HighWaterMark | undefined> {
  const { config } = context;
  const { connection } = await context.temporal();
  const { namespace } = config.temporal;
  const keys = config.payloadsAreEncrypted ? await context.usableKeys() : null;
  const dataConverter = keys ? createDataConverter({ keys, namespace, mode: 'client' }) : undefined;
  const client = new Client({ connection, namespace, dataConverter });
  return readWatchedAttempt(client, { ledgerId, taskQueue: config.taskQueue });
}

const NEEDS = ['LEDGER_'];

export const ledgerCheck = defineCheck('ledger', NEEDS, async (context) => {
  let found: LedgerInspection;
  try {
    found = await context.inspect();
  } catch (error) {
    if (error instanceof LedgerNotFoundError) return toMissingFinding(context);
    if (error instanceof LedgerSchemaError)
      return fail(error.message, 'run that build, or `credit-journey setup` for a new ledger at another LEDGER_URL');
    if (!(error instanceof LedgerUnavailableError)) throw error;
    // Its message names the database's code at most.
    return fail(`${error.message}: nothing is sent until it answers`, 'start the database, or correct LEDGER_URL');
  }
  return found.schemaVersion === 0 ? toMissingFinding(context) : judgeIdentity(context, found);
});

/** A worker creates a ledger by itself only in the sandbox. */
function toMissingFinding({ config }: DoctorContext): Finding {
  const detail = 'there is no ledger at its address';
  return config.environment === 'sandbox' && config.ledger.expectedId === undefined
    ? warn(detail, 'the first worker of the sandbox makes it, or `credit-journey setup`')
    : fail(detail, 'correct LEDGER_URL; only for a first start, `credit-journey setup`');
}

function judgeIdentity({ config }: DoctorContext, found: LedgerInspection): Finding {
  const { schemaVersion, knownSchemaVersion, oldestWriter, content } = found;
  if (oldestWriter > knownSchemaVersion) {
    return fail(
      `it takes writes from programs that know version ${oldestWriter} of its tables, and this one knows ${knownSchemaVersion}`,
      'run a newer one',
    );
  }
  if (!content) {
    const detail = `its tables are at version ${schemaVersion} of ${knownSchemaVersion}`;
    return fail(detail, '`credit-journey setup` brings them up to date');
  }
  const { ledgerId, environment } = content;
  if (environment !== config.environment) {
    return fail(`it belongs to ${environment}, but this is ${config.environment}`, 'correct LEDGER_URL');
  }
  if (config.ledger.expectedId !== undefined && config.ledger.expectedId !== ledgerId) {
    return fail(
      `its id is ${ledgerId}, but LEDGER_ID names another`,
      'correct LEDGER_URL: another ledger knows nothing of what was sent',
    );
  }
  if (content.lost) return toOlderCopyFinding(content.lost);
  return pass(`${ledgerId}, ${environment}, tables at version ${schemaVersion}`);
}

export const ledgerDurabilityCheck = defineCheck('ledger-durability', NEEDS, async ({ config, ledger }) => {
  const { kind, detail, toDo = '' } = judgeDurability((await ledger()).durability, config.ledger.durability);
  if (kind === 'sound') return pass(detail);
  return kind === 'unknown' || config.environment !== 'production' ? warn(detail, toDo) : fail(detail, toDo);
});

/** Checks whether an operator has paused inquiries. A pause stops all sending, even if all else is sound. */
export const pausesCheck = defineCheck('pauses', NEEDS, async ({ content }) => {
  const { pauses } = await content();
  if (pauses.length === 0) return pass('inquiries are not paused');
  return warn(
    pauses.map(describePause).join('; '),
    '`credit-journey resume` ends it, once its cause is fixed: with --profile, that of one profile',
  );
});

/** Servers that keep their time differ by less. */
const MAX_SKEW_MS = 30_000;

/** Compares our clock, which dates secondary uses, with that of the ledger, which judges consents. */
export const clockCheck = defineCheck('clock', NEEDS, async ({ ledger }) => {
  const { now, askedAtMs, answeredAtMs } = (await ledger()).clock;
  const aheadMs = Date.parse(now) - (askedAtMs + answeredAtMs) / 2;
  const detail = `the ledger’s clock is ${Math.round(aheadMs / 1000)} s ahead of this machine’s clock`;
  return Math.abs(aheadMs) <= MAX_SKEW_MS ? pass(detail) : warn(detail, 'set the clocks of both machines by NTP');
});

export const holdsCheck = defineCheck('holds', NEEDS, async ({ content }) => {
  const { needsPerson } = await content();
  if (needsPerson === 0) return pass('nothing needs a person');
  return warn(`${countWords(needsPerson, 'row')} of the work queue`, '`credit-journey holds` lists them');
});
