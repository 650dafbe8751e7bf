/**
 * Whether the codec server that clients go through answers, and has the key that workers encrypt under. Its address may
 * hold a secret, and its token is one: the check prints neither.
 */
import { randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { CodecServerConnection, createRemoteCodec } from '../../client/connection/codec-server.ts';
import { CodecServerError } from '../../client/connection/errors.ts';
import type { CodecServerAccess } from '../../config/codec-server-access.ts';
import type { ConfigProblem } from '../../model/problems.ts';
import { KeyRingError, UndecodablePayloadError, UnknownKeyError } from '../../protection/errors.ts';
import { createPayloadCodec } from '../../protection/payloads/payload-codec.ts';
import { bytesOf } from '../../protection/payloads/payload-envelope.ts';
import type { Check } from './check.ts';
import { type Finding, fail, NotCheckedError, pass, warn } from './finding.ts';

/** What a client in this environment would go through. */
export interface InspectedCodecServer {
  access: CodecServerAccess;
  /** Rules that it breaks: they keep no worker from starting, and so are no problems of the configuration. */
  problems: readonly ConfigProblem[];
}

const SAME_RING = 'give workers and codec server the same key ring';

/** None where no codec server is named. */
export function codecServerChecks(codecServer: InspectedCodecServer | undefined): Check[] {
  if (!codecServer) return [];
  const { access, problems } = codecServer;
  return [
    {
      name: 'codec-server',
      needs: ['GATEWAY_ENVIRONMENT', 'KEY_RING_', 'TEMPORAL_'],
      async run({ config, keys }, signal) {
        if (problems.length > 0) {
          const rules = problems.map(({ variable, rule }) => `${variable} ${rule}`).join('; ');
          return fail(`clients cannot use it: ${rules}`, 'see docs/configuration.md');
        }
        const ring = await keys().catch((error: unknown) => {
          if (!(error instanceof KeyRingError)) throw error;
          throw new NotCheckedError('the key ring cannot be used');
        });
        if (!ring) return warn('not tried: there is no key yet', 'run it again when the key ring is there');
        const { namespace } = config.temporal;
        const connection = new CodecServerConnection(access, namespace);
        signal.addEventListener('abort', () => void connection.close(), { once: true });
        try {
          const own = createPayloadCodec({ keys: ring, namespace, mode: 'client' });
          return await roundTrips(own, createRemoteCodec(connection), ring.current('payload').id);
        } finally {
          await connection.close();
        }
      },
    },
  ];
}

async function roundTrips(own: PayloadCodec, remote: PayloadCodec, keyId: string): Promise<Finding> {
  const probe = newProbe();
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
function newProbe(): Payload {
  const value = { doctor: randomBytes(16).toString('hex') };
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) };
}

function isSame(one: Payload | undefined, other: Payload): boolean {
  return one !== undefined && bytesOf(one.data).equals(bytesOf(other.data));
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
