/**
 * Checks settings that would undo the other rules without being part of them (docs/configuration.md, "What each
 * environment refuses").
 */

import { isLoopback } from '../base/loopback.ts';
import type { Environment } from '../model/products.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { checkSecretFile } from './private-file.ts';
import type { TemporalOptions } from './temporal-connection.ts';

/** Secrets that libraries read from the environment by themselves, and their proper place in production. */
const SECRETS_IN_VARIABLES: Readonly<Record<string, string>> = {
  TEMPORAL_API_KEY: 'TEMPORAL_CONFIG_FILE',
  TEMPORAL_TLS_CLIENT_KEY_DATA: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
  TEMPORAL_GRPC_META_AUTHORIZATION: 'TEMPORAL_CONFIG_FILE',
  PGPASSWORD: 'LEDGER_URL_FILE',
  AWS_SECRET_ACCESS_KEY: 'AWS_SHARED_CREDENTIALS_FILE, or give the machine a role',
};

/** Files of other software that contain a secret. */
const SECRET_FILES = ['TEMPORAL_CONFIG_FILE', 'TEMPORAL_TLS_CLIENT_KEY_PATH'];

/** Options of Node that write or show the content of TLS connections or memory. */
const TELLTALE_OPTIONS = /--(tls-keylog|trace-tls|inspect|heapsnapshot|heap-prof|report-)/;

/** Rules about the process itself. */
export function checkProcess(reader: EnvironmentReader, environment: Environment): void {
  if (environment === 'sandbox') return;
  if (reader.optional('NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    reader.report('NODE_TLS_REJECT_UNAUTHORIZED', 'must not be 0 outside the sandbox: it accepts any certificate');
  }
  if (reader.optional('NODE_DEBUG') !== undefined) {
    reader.report('NODE_DEBUG', 'must not be set outside the sandbox: it prints headers and tokens past the logger');
  }
  if (environment !== 'production') return;
  if (TELLTALE_OPTIONS.test(reader.optional('NODE_OPTIONS') ?? '')) {
    reader.report('NODE_OPTIONS', 'must not open a debugger, or write TLS keys, heaps or reports, in production');
  }
  for (const [variable, place] of Object.entries(SECRETS_IN_VARIABLES)) {
    if (reader.optional(variable) === undefined) continue;
    reader.report(variable, `must come from a file in production: see ${place}`);
  }
  for (const variable of SECRET_FILES) checkSecretFile(reader, environment, variable);
}

/** Rules about the connection to Temporal, for any variable or file that it came from. */
export function checkTemporal(reader: EnvironmentReader, environment: Environment, temporal: TemporalOptions): void {
  const { address, connectionOptions } = temporal;
  // An empty address could not be read, and has its own problem already.
  if (environment !== 'production' || address === '' || connectionOptions.tls) return;
  if (isLoopback(hostnameOf(address))) return;
  reader.report('TEMPORAL_TLS', 'is required in production, unless the server is on this machine');
}

/** The host of `host:port`. Otherwise the empty text, which is no loopback address. */
function hostnameOf(address: string): string {
  return URL.canParse(`http://${address}`) ? new URL(`http://${address}`).hostname : '';
}
