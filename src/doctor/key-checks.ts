/** Keys: the key ring, the codec server, the keys that proofs are checked with, and the one that the API signs with. */

import { randomBytes } from 'node:crypto';
import type { PayloadCodec } from '@temporalio/common';
import { CodecServer } from '../client/connection/codec-server.ts';
import { CodecServerError } from '../client/connection/errors.ts';
import type { inspectCodecServer } from '../config/config.ts';
import { checkOpenFile } from '../config/rules.ts';
import { decisionContent, type ProvableDecision } from '../model/decision-content.ts';
import { KeyRingError, KeyServiceError, UndecodablePayloadError, UnknownKeyError } from '../protection/errors.ts';
import { computeKeyAges, type KeyAge } from '../protection/keys/key-ring.ts';
import { loadDecisionSigner } from '../protection/keys/signing-keys.ts';
import { createPayloadCodec, toBytes } from '../protection/payloads/payload-codec.ts';
import { createDecisionProofVerifier } from '../protection/proofs.ts';
import { countWords } from '../words/writer.ts';
import { type Check, defineCheck, describeRules, type Finding, fail, pass, warn } from './check.ts';

export const keyRingCheck = defineCheck('key-ring', ['KEY_RING_'], async ({ config, keys }) => {
  try {
    const ring = await keys();
    if (!ring)
      return warn('there is none yet', 'the first worker of the sandbox makes one, or `credit-journey keys new`');
    return judgeAges(computeKeyAges(ring), config.environment === 'production');
  } catch (error) {
    if (!(error instanceof KeyRingError)) throw error;
    const isFile = !(error instanceof KeyServiceError);
    return fail(
      error.message,
      isFile ? 'put the right file where KEY_RING_FILE points' : '`credit-journey keys check`',
    );
  }
});

function judgeAges(ages: readonly KeyAge[], isProduction: boolean): Finding {
  const current = ages
    .filter(({ status }) => status === 'current')
    .map(({ id, ageDays }) => `${id} ${countWords(ageDays, 'day')}`);
  const retired = ages.length - current.length;
  const detail = `${current.join(', ')}${retired === 0 ? '' : `, ${retired} retired`}`;
  const isOverdue = ages.some(({ verdict }) => verdict === 'overdue');
  const isDue = ages.some(({ verdict }) => verdict === 'due');
  const rotate = '`credit-journey keys rotate`: a key encrypts for 90 days at most';
  if (isOverdue) return isProduction ? fail(detail, rotate) : warn(detail, rotate);
  return isDue ? warn(detail, `within two weeks ${rotate}`) : pass(detail);
}

export const ledgerKeysCheck = defineCheck('ledger-keys', ['KEY_RING_', 'LEDGER_'], async ({ usableKeys, content }) => {
  const [ring, { wrappedUnder }] = await Promise.all([usableKeys(), content()]);
  const held = new Set((ring?.keys ?? []).filter(({ use }) => use === 'ledger').map(({ id }) => id));
  const missing = wrappedUnder.filter(({ keyId }) => !held.has(keyId));
  if (missing.length === 0) return pass(`the key ring opens everything that the ledger has sealed`);
  const lacking = missing.map(
    ({ keyId, secret, reports }) =>
      `${keyId} (${secret ? 'the ledger’s own secret, ' : ''}${countWords(reports, 'report')})`,
  );
  return fail(`the key ring lacks ${lacking.join(', ')}`, 'restore the key ring that has it from its copy');
});

/**
 * Checks that the clients' codec server answers, and has the key that workers encrypt under. Its address may hold a
 * secret, and its token is one: the check prints neither. If its settings break a rule, workers
 * start all the same, so the check of the configuration does not report it.
 */
export function checkCodecServer({ access, problems }: NonNullable<ReturnType<typeof inspectCodecServer>>): Check {
  const needs = ['KEY_RING_', 'TEMPORAL_'];
  return defineCheck('codec-server', needs, async (context, signal) => {
    if (problems.length > 0) {
      return fail(`clients cannot use it: ${describeRules(problems)}`, 'see docs/configuration.md');
    }
    const keys = await context.usableKeys();
    if (!keys) return warn('not tried: there is no key yet', 'run it again when the key ring is there');
    const { namespace } = context.config.temporal;
    const remote = new CodecServer(access, namespace);
    signal.addEventListener('abort', () => void remote.close(), { once: true });
    const own = createPayloadCodec({ keys, namespace, mode: 'client' });
    try {
      return await checkRoundTrips(own, remote, keys.current('payload').id);
    } finally {
      await remote.close();
    }
  });
}

/** The words of a codec error are constant, and hold no address and no token. */
async function checkRoundTrips(own: PayloadCodec, remote: PayloadCodec, keyId: string): Promise<Finding> {
  // A made-up value that no run uses, and that is not masked for a caller with fewer roles.
  const data = Buffer.from(JSON.stringify({ doctor: randomBytes(16).toString('hex') }));
  const probe = { metadata: { encoding: Buffer.from('json/plain') }, data };
  const toDo = 'give workers and codec server the same key ring, and put the namespace into CODEC_NAMESPACES';
  try {
    const decoded = await remote.decode(await own.encode([probe]));
    // A client's token may have reading roles alone.
    const encoded = await remote.encode([probe]).catch((error: unknown) => {
      if (error instanceof CodecServerError && error.code === 'roleTooLow') return null;
      throw error;
    });
    const read = encoded === null ? [] : await own.decode(encoded);
    const isSame = [...decoded, ...read].every((payload) => toBytes(payload.data).equals(data));
    if (!isSame) return fail('it does not give back the payload that it encoded', 'check CODEC_SERVER_URL');
    const encodes = encoded === null ? 'this token may not encrypt' : 'workers can read what it encrypts';
    return pass(`it decodes what is encrypted under ${keyId}, and ${encodes}`);
  } catch (error) {
    if (error instanceof UnknownKeyError) {
      return fail(`it encrypts under ${error.keyId}, which the workers’ key ring lacks: their runs would wait`, toDo);
    }
    if (error instanceof UndecodablePayloadError) {
      return fail(`it and the workers cannot read each other’s payloads: ${error.message}`, toDo);
    }
    if (!(error instanceof CodecServerError)) throw error;
    return error.code === 'keyUnknown'
      ? fail(`it lacks the key ${keyId}`, toDo)
      : fail(error.message, 'see docs/codec-server.md');
  }
}

const PROBE: ProvableDecision = {
  decisionId: 'DOCTOR',
  customerTraceNumber: 'DOCTOR',
  attempt: 1,
  action: 'abandon',
  by: 'doctor',
  reason: 'none: it is sent nowhere',
  providerSaid: 'notAsked',
};

/** Checks whether workers take the decisions that the HTTP API signs. */
export function checkDecisionSigner(file: string): Check {
  return defineCheck('decision-signer', ['DECISION_'], async ({ config }) => {
    const signer = await loadDecisionSigner(file).catch(() => null);
    if (!signer) {
      const toDo = 'name a private key in API_DECISION_KEY_FILE: `credit-journey keys signing new` makes one';
      return fail('the key that the HTTP API signs decisions with cannot be used', toDo);
    }
    const content = decisionContent(config.environment, PROBE);
    const verify = createDecisionProofVerifier(config.decisionKeysFile);
    const proof = await signer.sign(content);
    const verdict = await verify({ content, proof, receivedAt: new Date().toISOString() }, 'proof');
    if (!verdict.accepted) {
      const toDo = `put its public key into DECISION_JWKS_FILE, with the kid ${signer.keyId}`;
      return fail(`every decision over the HTTP API would be refused: /proof ${verdict.rule}`, toDo);
    }
    if (config.environment === 'production' && checkOpenFile(file) !== null) {
      return fail('every user of this machine can sign as the HTTP API does', `chmod o-rwx ${file}`);
    }
    return pass(`workers accept what the HTTP API signs with the key ${signer.keyId}`);
  });
}
