/** The key ring: how old its keys are, and whether it opens everything that the ledger holds. */
import { KeyRingError, KeyServiceError } from '../../protection/errors.ts';
import { type KeyAge, keyAges } from '../../protection/keys/key-age.ts';
import type { Check } from './check.ts';
import { counted, type Finding, fail, NotCheckedError, pass, warn } from './finding.ts';

export const keyRingCheck: Check = {
  name: 'key-ring',
  needs: ['GATEWAY_ENVIRONMENT', 'KEY_RING_'],
  async run({ config, keys }) {
    try {
      const ring = await keys();
      if (!ring)
        return warn('there is none yet', 'the first worker of the sandbox makes one, or `credit-journey keys new`');
      return ofAges(keyAges(ring), config.environment === 'production');
    } catch (error) {
      if (!(error instanceof KeyRingError)) throw error;
      const isFile = !(error instanceof KeyServiceError);
      return fail(
        error.message,
        isFile ? 'put the right file where KEY_RING_FILE points' : '`credit-journey keys check`',
      );
    }
  },
};

function ofAges(ages: readonly KeyAge[], isProduction: boolean): Finding {
  const told = ages
    .filter(({ status }) => status === 'current')
    .map(({ id, ageDays }) => `${id} ${counted(ageDays, 'day')}`);
  const retired = ages.length - told.length;
  const detail = `${told.join(', ')}${retired === 0 ? '' : `, ${retired} retired`}`;
  const isOverdue = ages.some(({ verdict }) => verdict === 'overdue');
  const isDue = ages.some(({ verdict }) => verdict === 'due');
  const rotate = '`credit-journey keys rotate`: a key encrypts for 90 days at most';
  if (isOverdue) return isProduction ? fail(detail, rotate) : warn(detail, rotate);
  return isDue ? warn(detail, `within two weeks ${rotate}`) : pass(detail);
}

export const ledgerKeysCheck: Check = {
  name: 'ledger-keys',
  needs: ['GATEWAY_ENVIRONMENT', 'KEY_RING_', 'LEDGER_'],
  async run({ keys, ledger }) {
    const [ring, { content }] = await Promise.all([keys().catch(noKeys), ledger()]);
    if (!content) throw new NotCheckedError('the ledger cannot be read');
    const held = new Set((ring?.keys ?? []).filter(({ use }) => use === 'ledger').map(({ id }) => id));
    const missing = content.wrappedUnder.filter(({ keyId }) => !held.has(keyId));
    if (missing.length === 0) return pass(`the key ring opens all that the ledger holds`);
    const told = missing.map(
      ({ keyId, secret, reports }) =>
        `${keyId} (${secret ? 'the ledger’s own secret, ' : ''}${counted(reports, 'report')})`,
    );
    return fail(`the key ring lacks ${told.join(', ')}`, 'bring back the key ring that holds it, from its copy');
  },
};

function noKeys(error: unknown): never {
  if (!(error instanceof KeyRingError)) throw error;
  throw new NotCheckedError('the key ring cannot be used');
}
