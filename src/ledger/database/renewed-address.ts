/**
 * A database's address whose user and password are read again from their file for each new connection, so that they are
 * rotated without a restart. No other change of the address in the file is followed: another server or
 * database may hold another ledger, which knows nothing of what was sent.
 */
import { readFileSync } from 'node:fs';
import { codeOf } from './sql-session.ts';

// SQLSTATE (PostgreSQL, appendix A).
const REFUSALS = ['28000', '28P01'];

/** For so long after a refusal, the user and password that were good before are tried first. */
const AVOID_REFUSED_MS = 5_000;

/** Whether the server refused the user or the password. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.includes(codeOf(error));
}

interface AddressOptions {
  /** Holds the address; absent where it cannot change. */
  file?: string | undefined;
  /** Called with what an operator should know, once for each change. Holds no value. */
  onNews?: ((news: string) => void) | undefined;
}

export class RenewedAddress {
  /** The last that the server took, and at first the configured one. */
  #good: string;
  #refused: { url: string; atMs: number } | undefined;
  readonly #options: AddressOptions;
  #lastNews: string | undefined;

  constructor(url: string, options: AddressOptions = {}) {
    this.#good = url;
    this.#options = options;
  }

  /** Whether a further attempt may use something else than the one that was just refused. */
  get canChange(): boolean {
    return this.#options.file !== undefined;
  }

  /** For the next connection. */
  next(): string {
    const inFile = this.#read();
    if (inFile === undefined || inFile === this.#good) return this.#good;
    const isAvoided = this.#refused?.url === inFile && performance.now() - this.#refused.atMs < AVOID_REFUSED_MS;
    return isAvoided ? this.#good : inFile;
  }

  taken(url: string): void {
    if (url === this.#good) return;
    this.#good = url;
    this.#refused = undefined;
    this.#tell('the ledger’s new user or password is in use: LEDGER_URL_FILE has changed');
  }

  refused(url: string): void {
    if (url === this.#good) {
      // What is in the file is tried at once.
      this.#refused = undefined;
      this.#tell('the ledger’s database refuses the user or password that it took before: see LEDGER_URL_FILE');
      return;
    }
    this.#refused = { url, atMs: performance.now() };
    this.#tell(
      'the ledger’s database refuses the new user or password in LEDGER_URL_FILE: what was good before is kept in use',
    );
  }

  #read(): string | undefined {
    const { file } = this.#options;
    if (file === undefined) return undefined;
    let text: string;
    try {
      text = readFileSync(file, 'utf8').trim();
    } catch (error) {
      this.#tell(`LEDGER_URL_FILE cannot be read again (${codeOf(error)}): what was good before is kept in use`);
      return undefined;
    }
    if (withoutCredentials(text) === withoutCredentials(this.#good)) return text;
    this.#tell(
      'LEDGER_URL_FILE has another server, database or option now: that is followed by a restart alone, and what was ' +
        'good before is kept in use',
    );
    return undefined;
  }

  #tell(news: string): void {
    if (news === this.#lastNews) return;
    this.#lastNews = news;
    this.#options.onNews?.(news);
  }
}

/** `null` where it is no address. */
function withoutCredentials(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  for (const name of ['user', 'password']) url.searchParams.delete(name);
  return url.href;
}
