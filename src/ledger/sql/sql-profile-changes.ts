/** The approved profile changes of the ledger on any SQL engine: each method is one transaction. */
import type { SqlEngine } from '../database/sql-session.ts';
import type { WriteTo } from '../database/writing.ts';
import type { ApprovalVerdict, ApprovedChange, ProfileChanges } from '../profile-changes.ts';
import { insertApproval, readApprovals } from '../rows/profile-changes.ts';

export class SqlProfileChanges implements ProfileChanges {
  readonly #engine: SqlEngine;
  readonly #write: WriteTo;

  constructor(engine: SqlEngine, write: WriteTo) {
    this.#engine = engine;
    this.#write = write;
  }

  approve(ledgerId: string, change: Omit<ApprovedChange, 'approvedAt'>): Promise<ApprovalVerdict> {
    return this.#write(ledgerId, async (writing) => {
      const { approval, isNew } = await insertApproval(writing, change);
      return { keep: isNew, value: { kind: isNew ? 'approved' : 'duplicate', approval } };
    });
  }

  list(): Promise<ApprovedChange[]> {
    return this.#engine.read(readApprovals);
  }
}
