/** What an engine's test file gives the contract suite, and what each of its tests gets. */
import type { TestContext } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { KeyRing } from '../../src/protection/keys/key-ring.ts';

export interface LedgerBackend {
  name: string;
  /** The address of a database that holds nothing yet; another one at each call. */
  newUrl(): Promise<string>;
  /** One statement behind the ledger's back. */
  execute(url: string, sql: string): Promise<unknown[]>;
  /** The address by which programs open a ledger that was made; absent where it is its owner's, too. */
  forPrograms?(url: string): Promise<string>;
}

export interface Opened {
  url: string;
  ring: KeyRing;
  ledger: Ledger;
  ledgerId: string;
  /** A second handle on the same ledger, as another worker has. */
  again(): Promise<Ledger>;
}

export type Open = (t: TestContext) => Promise<Opened>;
