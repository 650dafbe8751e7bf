/** The ledger: whether it is the right one, and whether what it confirms can be lost. */
import { LedgerNotFoundError } from '../../ledger/errors.ts';
import type { LedgerInspection } from '../../ledger/sql/inspect-ledger.ts';
import type { Check } from './check.ts';
import type { DoctorContext } from './context.ts';
import { type Finding, fail, pass, warn } from './finding.ts';
import { olderCopy } from './ledger-watch-check.ts';

const NEEDS = ['GATEWAY_ENVIRONMENT', 'LEDGER_'];

export const ledgerCheck: Check = {
  name: 'ledger',
  needs: NEEDS,
  async run(context) {
    let found: LedgerInspection;
    try {
      found = await context.inspect();
    } catch (error) {
      if (error instanceof LedgerNotFoundError) return missing(context);
      // Its own message names the database's code at most.
      const message = error instanceof Error && error.name === 'LedgerUnavailableError' ? error.message : 'unreachable';
      return fail(`${message}: nothing is sent until it answers`, 'start the database, or correct LEDGER_URL');
    }
    const { now, askedAtMs, answeredAtMs } = found.clock;
    context.clocks.push({ whose: 'ledger', aheadMs: Date.parse(now) - (askedAtMs + answeredAtMs) / 2 });
    return found.schemaVersion === 0 ? missing(context) : identityFinding(context, found);
  },
};

/** Only in the sandbox does a worker make one by itself. */
function missing({ config }: DoctorContext): Finding {
  const detail = 'there is no ledger at its address';
  return config.environment === 'sandbox' && config.ledger.expectedId === undefined
    ? warn(detail, 'the first worker of the sandbox makes it, or `credit-journey setup`')
    : fail(detail, 'correct LEDGER_URL; only for a first start, `credit-journey setup`');
}

function identityFinding({ config }: DoctorContext, found: LedgerInspection): Finding {
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
    return fail(`it belongs to ${environment}, and this is ${config.environment}`, 'correct LEDGER_URL');
  }
  if (config.ledger.expectedId !== undefined && config.ledger.expectedId !== ledgerId) {
    return fail(
      `it is ${ledgerId}, which LEDGER_ID does not say`,
      'correct LEDGER_URL: another ledger knows nothing of what was sent',
    );
  }
  if (content.lost) return olderCopy(content.lost);
  return pass(`${ledgerId}, ${environment}, tables at version ${schemaVersion}`);
}

export const ledgerDurabilityCheck: Check = {
  name: 'ledger-durability',
  needs: NEEDS,
  async run({ ledger }) {
    const { isFlushed, waitsForStandby, isStandby } = (await ledger()).durability;
    if (isStandby) return fail('the database is a standby, which takes no writes', 'LEDGER_URL must name the primary');
    if (!isFlushed) {
      return fail('fsync is off: a power cut may forget what was sent', 'set fsync = on in PostgreSQL’s configuration');
    }
    if (waitsForStandby === false) {
      return warn(
        'no synchronous standby: a failover may forget what was sent, and send it again',
        'set synchronous_standby_names before you fail over to another server',
      );
    }
    return pass(waitsForStandby === null ? 'SQLite, every commit is flushed' : 'commits wait for a standby');
  },
};
