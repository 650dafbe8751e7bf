/** The addresses of the ledger and the key ring. */

import { defined } from '../base/defined.ts';
import { isLoopback } from '../base/loopback.ts';
import { PRINTABLE } from '../base/portable-patterns.ts';
import type { Environment } from '../model/products.ts';
import type { LedgerAccess, LedgerSettings } from './config-shape.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { checkSecretFile } from './private-file.ts';

export const SANDBOX_KEY_RING_FILE = '.credit-journey/keys.json';

const URL_FORMS = 'file:<path> or postgres://<host>/<database>';

/** @param needsId false for `setup` alone, which makes the ledger and prints its id */
export function readLedgerAccess(
  reader: EnvironmentReader,
  environment: Environment,
  options: { needsId: boolean },
): LedgerAccess {
  const sandbox = environment === 'sandbox';
  const expectedId = reader.optional('LEDGER_ID');
  if (expectedId === undefined && !sandbox && options.needsId) {
    reader.report(
      'LEDGER_ID',
      'is required outside the sandbox: `credit-journey setup` makes a ledger and tells its id',
    );
  }
  const durability = readDurability(reader, environment);
  return {
    environment,
    ledger: { url: readUrl(reader, environment), durability, ...defined({ expectedId }) },
    keyRingFile: reader.text('KEY_RING_FILE', sandbox ? SANDBOX_KEY_RING_FILE : undefined),
    keyRingMayBeMade: sandbox && reader.optional('KEY_RING_FILE') === undefined,
  };
}

/** Shown in logs and by `doctor`. */
const MAX_DECIDER = 200;

/** A decision by a person, who is named: what PostgreSQL shows is overruled by it. */
function readDurability(reader: EnvironmentReader, environment: Environment): LedgerSettings['durability'] {
  const kind = reader.oneOf('LEDGER_DURABILITY', ['replication', 'storage', 'accepted'], 'replication');
  if (kind === 'replication') return { kind };
  const by = reader.optional('LEDGER_DURABILITY_BY');
  if (by === undefined) {
    if (environment === 'sandbox') return { kind };
    reader.report('LEDGER_DURABILITY_BY', `is required with LEDGER_DURABILITY=${kind}: who decided so, and why`);
  } else if (by.length > MAX_DECIDER || !new RegExp(PRINTABLE).test(by)) {
    reader.report('LEDGER_DURABILITY_BY', `must be one line of at most ${MAX_DECIDER} characters`);
  }
  return { kind, by: by ?? '' };
}

function readUrl(reader: EnvironmentReader, environment: Environment): string {
  const path = reader.optional('LEDGER_URL_FILE');
  if (path === undefined) {
    const fallback = environment === 'sandbox' ? 'file:.credit-journey/ledger.db' : undefined;
    return reader.text(
      'LEDGER_URL',
      fallback,
      (url) => urlProblem(url) ?? passwordProblem(url, environment) ?? wireProblem(url, environment),
    );
  }
  if (reader.optional('LEDGER_URL') !== undefined) reader.report('LEDGER_URL', 'must not be given beside its file');
  const url = reader.file('LEDGER_URL_FILE', path)?.trim();
  checkSecretFile(reader, environment, 'LEDGER_URL_FILE');
  if (url === undefined) return '';
  const rule = urlProblem(url) ? `must hold ${URL_FORMS}` : wireProblem(url, environment);
  if (rule) reader.report('LEDGER_URL_FILE', rule);
  return url;
}

function urlProblem(url: string): string | null {
  if (/^file:./.test(url)) return null;
  const isPostgres = /^postgres(ql)?:\/\//.test(url) && URL.canParse(url);
  return isPostgres ? null : `must be ${URL_FORMS}`;
}

/** In production secrets come from files (docs/protection.md). */
function passwordProblem(url: string, environment: Environment): string | null {
  if (environment !== 'production' || url.startsWith('file:')) return null;
  const { password, searchParams } = new URL(url);
  const holdsPassword = password !== '' || searchParams.has('password');
  return holdsPassword ? 'must not hold a password in production: name a file in LEDGER_URL_FILE' : null;
}

/** In production the connection to a ledger over a network is encrypted, and the server's certificate is checked. */
function wireProblem(url: string, environment: Environment): string | null {
  if (environment !== 'production' || url.startsWith('file:')) return null;
  const { hostname, searchParams } = new URL(url);
  // A Unix socket has no host, or names its directory in `host`.
  const host = searchParams.get('host') ?? hostname;
  if (host === '' || host.startsWith('/') || host.startsWith('%2F') || isLoopback(host)) return null;
  const isChecked = searchParams.get('sslmode') === 'verify-full' && !searchParams.has('ssl');
  return isChecked ? null : 'must have sslmode=verify-full in production, unless the database is on this machine';
}
