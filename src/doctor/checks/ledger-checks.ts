/** The ledger: whether it is the right one, and whether what it confirms can be lost. */
import { judgeDurability } from '../../ledger/database/durability.ts';
import { LedgerNotFoundError, LedgerUnavailableError } from '../../ledger/errors.ts';
import type { LedgerInspection } from '../../ledger/inspect-ledger.ts';
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
      if (!(error instanceof LedgerUnavailableError)) throw error;
      // Its message names the database's code at most.
      return fail(`${error.message}: nothing is sent until it answers`, 'start the database, or correct LEDGER_URL');
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
  async run({ config, ledger }) {
    const { kind, detail, toDo = '' } = judgeDurability((await ledger()).durability, config.ledger.durability);
    if (kind === 'sound') return pass(detail);
    return kind === 'unknown' ? warn(detail, toDo) : fail(detail, toDo);
  },
};
