/** The settings of a client: how its payloads are encoded, and what production permits it to hold. */

import { defined } from '../base/defined.ts';
import type { Environment } from '../model/products.ts';
import { addressProblem } from './addresses.ts';
import type { CodecServerAccess, PayloadAccess } from './config-shape.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { SANDBOX_KEY_RING_FILE } from './ledger-settings.ts';
import { isPem } from './pem.ts';
import { optionalSecret } from './secrets.ts';

/** The kind of program that asks. */
export interface ClientUse {
  /** Runs beside the ledger with a worker's secrets, so production permits it keys and ledger. Default false. */
  besideLedger?: boolean;
  /** Has a data converter of its own, and needs neither keys nor codec server for payloads. Default false. */
  ownDataConverter?: boolean;
  /** Has a connection of its own: its way to Temporal is not checked. Default false. */
  ownConnection?: boolean;
}

const SECRETS_OF_OTHERS = ['KEY_RING_FILE', 'LEDGER_URL', 'LEDGER_URL_FILE'];

/** In production only workers, the codec server and programs beside the ledger hold keys (docs/configuration.md). */
export function refuseKeys(reader: EnvironmentReader, environment: Environment, use: ClientUse): void {
  if (environment !== 'production' || use.besideLedger) return;
  for (const variable of SECRETS_OF_OTHERS) {
    if (reader.optional(variable) === undefined) continue;
    reader.report(variable, 'must not be given to a client in production: it goes through CODEC_SERVER_URL');
  }
}

/** A codec server takes precedence over a key ring. Nothing is sent in the clear unless `PAYLOAD_ENCRYPTION` is off. */
export function readPayloadAccess(
  reader: EnvironmentReader,
  about: { environment: Environment; isEncrypted: boolean; codecServer: CodecServerAccess | undefined; use: ClientUse },
): PayloadAccess {
  const { environment, isEncrypted, codecServer, use } = about;
  if (!isEncrypted) return { kind: 'clear' };
  if (codecServer) return { kind: 'codecServer' };
  const file = reader.optional('KEY_RING_FILE') ?? (environment === 'sandbox' ? SANDBOX_KEY_RING_FILE : undefined);
  if (file !== undefined) return { kind: 'keyRing', file };
  if (!use.ownDataConverter) {
    const orKeys = environment === 'production' && !use.besideLedger ? '' : ', unless KEY_RING_FILE is given';
    reader.report('CODEC_SERVER_URL', `is required outside the sandbox${orKeys}: nothing is sent in the clear`);
  }
  return { kind: 'clear' };
}

/** `CODEC_SERVER_URL` and its companion variables; `undefined` where it is not set. */
export function readCodecServer(reader: EnvironmentReader, environment: Environment): CodecServerAccess | undefined {
  const url = reader.optional('CODEC_SERVER_URL');
  if (url === undefined) return undefined;
  const rule = addressProblem(url, environment);
  if (rule) reader.report('CODEC_SERVER_URL', rule);
  const readToken = optionalSecret(reader, {
    variable: 'CODEC_SERVER_TOKEN',
    value: reader.optional('CODEC_SERVER_TOKEN'),
    file: reader.optional('CODEC_SERVER_TOKEN_FILE'),
    fileOnly: environment === 'production',
  });
  if (!readToken && environment === 'production') reader.report('CODEC_SERVER_TOKEN_FILE', 'is required in production');
  const caCertificate = readCaCertificate(reader);
  return {
    url: url.replace(/\/+$/, ''),
    ...defined({ readToken, caCertificate }),
  };
}

function readCaCertificate(reader: EnvironmentReader): string | undefined {
  const path = reader.optional('CODEC_SERVER_CA_FILE');
  if (path === undefined) return undefined;
  const pem = reader.file('CODEC_SERVER_CA_FILE', path);
  if (pem !== undefined && !isPem(pem)) reader.report('CODEC_SERVER_CA_FILE', 'must hold a PEM certificate');
  return pem;
}
