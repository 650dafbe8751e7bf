/** Keys: the key ring, the codec server, the keys that proofs are checked with, and the one that the API signs with. */

import { randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { CodecServerConnection, createRemoteCodec } from '../client/connection/codec-server.ts';
import { CodecServerError } from '../client/connection/errors.ts';
import type { CodecServerAccess } from '../config/codec-server-access.ts';
import { checkOpenFile } from '../config/rules.ts';
import { decisionContent, type ProvableDecision } from '../model/decision-content.ts';
import type { ConfigProblem } from '../model/problems.ts';
import type { Environment } from '../model/products.ts';
import { KeyRingError, KeyServiceError, UndecodablePayloadError, UnknownKeyError } from '../protection/errors.ts';
import { computeKeyAges, type KeyAge } from '../protection/keys/key-ring.ts';
import { type DecisionSigner, loadDecisionSigner } from '../protection/keys/signing-keys.ts';
import { createPayloadCodec } from '../protection/payloads/payload-codec.ts';
import { toBytes } from '../protection/payloads/payload-envelope.ts';
import { createDecisionProofVerifier } from '../protection/proofs.ts';
import {
  type Check,
  defineCheck,
  describeCount,
  describeRules,
  type Finding,
  fail,
  getUsableKeys,
  pass,
  readLedgerContent,
  warn,
} from './check.ts';

export const keyRingCheck = defineCheck('key-ring', ['GATEWAY_ENVIRONMENT', 'KEY_RING_'], async ({ config, keys }) => {
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
  const told = ages
    .filter(({ status }) => status === 'current')
    .map(({ id, ageDays }) => `${id} ${describeCount(ageDays, 'day')}`);
  const retired = ages.length - told.length;
  const detail = `${told.join(', ')}${retired === 0 ? '' : `, ${retired} retired`}`;
  const isOverdue = ages.some(({ verdict }) => verdict === 'overdue');
  const isDue = ages.some(({ verdict }) => verdict === 'due');
  const rotate = '`credit-journey keys rotate`: a key encrypts for 90 days at most';
  if (isOverdue) return isProduction ? fail(detail, rotate) : warn(detail, rotate);
  return isDue ? warn(detail, `within two weeks ${rotate}`) : pass(detail);
}

export const ledgerKeysCheck = defineCheck(
  'ledger-keys',
  ['GATEWAY_ENVIRONMENT', 'KEY_RING_', 'LEDGER_'],
  async (context) => {
    const [ring, content] = await Promise.all([getUsableKeys(context), readLedgerContent(context)]);
    const held = new Set((ring?.keys ?? []).filter(({ use }) => use === 'ledger').map(({ id }) => id));
    const missing = content.wrappedUnder.filter(({ keyId }) => !held.has(keyId));
    if (missing.length === 0) return pass(`the key ring opens all that the ledger holds`);
    const told = missing.map(
      ({ keyId, secret, reports }) =>
        `${keyId} (${secret ? 'the ledger’s own secret, ' : ''}${describeCount(reports, 'report')})`,
    );
    return fail(`the key ring lacks ${told.join(', ')}`, 'bring back the key ring that holds it, from its copy');
  },
);

/** The codec server that clients in this environment use. */
export interface InspectedCodecServer {
  access: CodecServerAccess;
  /** Broken rules. They keep no worker from starting, and so are no problems of the configuration. */
  problems: readonly ConfigProblem[];
}

const SAME_RING = 'give workers and codec server the same key ring';

/**
 * Checks that the clients' codec server answers, and has the key that workers encrypt under. Its address may hold a
 * secret, and its token is one: the check prints neither. Returns no check if no codec server is named.
 */
export function createCodecServerChecks(codecServer: InspectedCodecServer | undefined): Check[] {
  if (!codecServer) return [];
  const { access, problems } = codecServer;
  const check = defineCheck(
    'codec-server',
    ['GATEWAY_ENVIRONMENT', 'KEY_RING_', 'TEMPORAL_'],
    async (context, signal) => {
      if (problems.length > 0) {
        return fail(`clients cannot use it: ${describeRules(problems)}`, 'see docs/configuration.md');
      }
      const ring = await getUsableKeys(context);
      if (!ring) return warn('not tried: there is no key yet', 'run it again when the key ring is there');
      const { namespace } = context.config.temporal;
      const connection = new CodecServerConnection(access, namespace);
      signal.addEventListener('abort', () => void connection.close(), { once: true });
      try {
        const own = createPayloadCodec({ keys: ring, namespace, mode: 'client' });
        return await checkRoundTrips(own, createRemoteCodec(connection), ring.current('payload').id);
      } finally {
        await connection.close();
      }
    },
  );
  return [check];
}

async function checkRoundTrips(own: PayloadCodec, remote: PayloadCodec, keyId: string): Promise<Finding> {
  const probe = createProbe();
  try {
    const [decoded] = await remote.decode(await own.encode([probe]));
    if (!isSame(decoded, probe)) return fail('it answers, and not with what was encrypted', 'check CODEC_SERVER_URL');
  } catch (error) {
    return refusal(error, keyId);
  }
  try {
    const [decoded] = await own.decode(await remote.encode([probe]));
    if (!isSame(decoded, probe)) return fail('it encrypts something else than it is given', 'check CODEC_SERVER_URL');
    return pass(`it decodes what is encrypted under ${keyId}, and workers can read what it encrypts`);
  } catch (error) {
    // A client's token may have reading roles alone.
    if (isOfRole(error)) return pass(`it decodes what is encrypted under ${keyId}; this token may not encrypt`);
    if (error instanceof UnknownKeyError) {
      return fail(
        `it encrypts under ${error.keyId}, which the workers’ key ring lacks: their runs would wait`,
        SAME_RING,
      );
    }
    if (error instanceof UndecodablePayloadError) {
      return fail(`the workers cannot read what it encrypts: ${error.message}`, SAME_RING);
    }
    return refusal(error, keyId);
  }
}

/** A made-up value that no run uses, and that is not masked for a caller with fewer roles. */
function createProbe(): Payload {
  const value = { doctor: randomBytes(16).toString('hex') };
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) };
}

function isSame(a: Payload | undefined, b: Payload): boolean {
  return a !== undefined && toBytes(a.data).equals(toBytes(b.data));
}

function isOfRole(error: unknown): boolean {
  return error instanceof CodecServerError && error.code === 'roleTooLow';
}

/** Its messages are constant, and hold no address and no token. */
function refusal(error: unknown, keyId: string): Finding {
  if (error instanceof UndecodablePayloadError) {
    return fail(
      `it does not decode what is encrypted under ${keyId}: ${error.message}`,
      `${SAME_RING}, and put the namespace into CODEC_NAMESPACES`,
    );
  }
  if (!(error instanceof CodecServerError)) throw error;
  return error.code === 'keyUnknown'
    ? fail(`it lacks the key ${keyId}`, SAME_RING)
    : fail(error.message, 'see docs/codec-server.md');
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

/** Checks whether workers take the decisions that the HTTP API signs. Returns no check if the API signs nothing. */
export function createDecisionSignerChecks(file: string | undefined): Check[] {
  if (file === undefined) return [];
  const check = defineCheck('decision-signer', ['DECISION_'], async ({ config }) => {
    let signer: DecisionSigner;
    try {
      signer = await loadDecisionSigner(file);
    } catch {
      const todo = 'name a private key in API_DECISION_KEY_FILE: `credit-journey keys signing new` makes one';
      return fail('the key that the HTTP API signs decisions with cannot be used', todo);
    }
    const content = decisionContent(config.environment, PROBE);
    const verify = createDecisionProofVerifier(config.decisionKeysFile);
    const proof = await signer.sign(content);
    const verdict = await verify({ content, proof, receivedAt: new Date().toISOString() }, 'proof');
    if (verdict.accepted)
      return openIn(config, file) ?? pass(`workers take what the HTTP API signs, by the key ${signer.keyId}`);
    const todo = `put its public key into DECISION_JWKS_FILE, with the kid ${signer.keyId}`;
    return fail(`every decision over the HTTP API would be refused: /proof ${verdict.rule}`, todo);
  });
  return [check];
}

/** In production no other user of the machine may read it. */
function openIn({ environment }: { environment: Environment }, file: string): Finding | undefined {
  if (environment !== 'production' || checkOpenFile(file) === null) return undefined;
  return fail('every user of this machine can sign as the HTTP API does', `chmod o-rwx ${file}`);
}
