/**
 * Brings the commits of one SQLite connection to the disk. The connection writes its log without waiting for the disk
 * (`synchronous=NORMAL`), and this syncs the log beside other work: one sync for all commits that came before it.
 * Nothing may be said about a commit before. docs/decisions/ledger.md, 23.
 */
import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { LedgerUnavailableError } from '../errors.ts';
import { codeOf } from './sql-session.ts';

export class LogSync {
  readonly #file: string;
  #handle: FileHandle | undefined;
  /** Counts commits. It begins with those that the log held when it was opened: nobody may have synced them. */
  #commits = 1;
  /** The commits that the last sync began with. */
  #begun = 0;
  #synced = 0;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #hasFailed = false;

  /** @param file the log, which the connection has opened, or opens with its first transaction */
  constructor(file: string) {
    this.#file = file;
  }

  /** Once a sync has failed, the system may have dropped what it could not write, and a further sync may not say so. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Something was committed, by this connection or before its eyes by another one. */
  noteCommit(): void {
    this.#commits++;
  }

  /**
   * Resolves once all noted commits are on disk.
   *
   * @throws LedgerUnavailableError where that is not known: they count as not done
   */
  async covered(): Promise<void> {
    if (this.#hasFailed) throw givenUp('an earlier sync');
    if (this.#synced === this.#commits) return;
    if (this.#begun === this.#commits) return this.#running;
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        this.#running = this.#sync();
        return this.#running;
      });
    return this.#next;
  }

  /** Answers those who still wait. */
  async close(): Promise<void> {
    await this.covered().catch(() => {});
    this.#hasFailed = true;
    await this.#running.catch(() => {});
    await this.#handle?.close().catch(() => {});
    this.#handle = undefined;
  }

  async #sync(): Promise<void> {
    if (this.#hasFailed) throw givenUp('an earlier sync');
    const covers = this.#commits;
    this.#begun = covers;
    try {
      this.#handle ??= await open(this.#file, 'r+');
      await this.#handle.datasync();
      const { ino } = await this.#handle.stat();
      if (statSync(this.#file, { throwIfNoEntry: false })?.ino !== ino) throw new Error('removed or replaced');
    } catch (error) {
      this.#hasFailed = true;
      throw givenUp(codeOf(error));
    }
    this.#synced = covers;
  }
}

function givenUp(why: string): LedgerUnavailableError {
  return new LedgerUnavailableError(`the ledger's log did not reach the disk (${why})`);
}
