/** The interface between an engine's test file and the contract suite, and between the suite and its tests. */
import type { TestContext } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { KeyRing } from '../../src/protection/keys/key-ring.ts';

export interface LedgerBackend {
  name: string;
  /** Returns the address of a new empty database. */
  newUrl(): Promise<string>;
  /** Executes one statement that bypasses the ledger. */
  execute(url: string, sql: string): Promise<unknown[]>;
  /** Returns the address by which programs open an existing ledger; absent if it is the same as the owner's. */
  forPrograms?(url: string): Promise<string>;
}

export interface Opened {
  url: string;
  ring: KeyRing;
  ledger: Ledger;
  ledgerId: string;
  /** Opens a second handle on the same ledger, as another worker does. */
  again(): Promise<Ledger>;
}

export type Open = (t: TestContext) => Promise<Opened>;
