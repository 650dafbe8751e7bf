/**
 * The ledger: the project's own record of inquiries, decisions and consents, outside Temporal. docs/protocol.md and
 * docs/decisions/ledger.md. One contract suite holds for both of its engines.
 *
 * Most methods are functions of one transaction. Each lies with its subject, which says what it does; here it gets its
 * name. Every method throws `LedgerUnavailableError` when the database cannot be reached or does not answer in time; a
 * commit without an answer counts as not done. Throws `LedgerChangedError` if `ledgerId` is not this ledger's. Every
 * method that writes throws `WriterTooOldError` if the ledger asks for a newer program. Two are exceptions: `claim`
 * returns that as a verdict, and `recordOutcome` writes all the same.
 */
import type { AttemptView } from '../model/inquiry.ts';
import { SealBrokenError } from '../protection/errors.ts';
import type { KeyWrapper } from '../protection/keys/key-ring.ts';
import { verifyChain } from './audit/audit-chain.ts';
import { RECORD_PAGES, readAttemptsPage, readNamed, readSharesPage } from './audit/record-pages.ts';
import { readDurability } from './database/durability.ts';
import { readRows } from './database/rows.ts';
import { mayWrite, requireIdentity } from './database/schema.ts';
import type { Transaction } from './database/sql-session.ts';
import type { Transactions } from './database/transactions.ts';
import { rewrapDataKeys } from './database/wrapped-keys.ts';
import * as holds from './holds/holds.ts';
import { isDisposalBegun, readInquiries, readInquiry } from './inquiries/inquiries.ts';
import { claimAttempt, decide, lookUp, lookUpAndClose, recordAttempt } from './inquiries/inquiry-transactions.ts';
import { findEndingDifferences, recordRunDecisions } from './orders.ts';
import { isOfOwner, readMadeFor } from './owners.ts';
import * as pauses from './pauses.ts';
import type * as records from './records.ts';
import { readReferredInquiries, type SealedRefusal, SealedReports } from './reports/reports.ts';
import { acceptRestore, listRestores, readRestore, watchForRestore } from './restores.ts';
import * as retention from './retention/retention.ts';
import * as shares from './shares/shares.ts';

export type Ledger = ReturnType<typeof makeLedger>;

export function makeLedger(transactions: Transactions, identity: records.LedgerIdentity, keys: KeyWrapper) {
  return Object.assign(new SqlLedger(identity, transactions, keys), {
    ...transactions.bindReads({
      lookUp,
      /** All inquiries of one owner (model/run-key.ts: a `journeyId`, `pull:<pullId>`), oldest first. */
      inquiriesOf: (tx: Transaction, runKey: string) => readInquiries(tx, { runKey }),
      inquiry: readInquiry,
      inquiriesReferredTo: readReferredInquiries,
      recordsNamed: readNamed,
      madeFor: readMadeFor,
      shareFacts: shares.readShareFacts,
      stands: shares.readStands,
      findEndingDifferences,
      startFacts: readStartFacts,
      restoreState: readRestore,
      restores: listRestores,
      verifyChain,
      durability: readDurability,
      /** Whether the ledger still takes claims and decisions from a program of this version. */
      mayWrite: async (tx: Transaction) => mayWrite(await requireIdentity(tx)),
    }),
    ...transactions.bindLists({
      inquiriesBetween: readAttemptsPage,
      sharesBetween: readSharesPage,
      ...RECORD_PAGES,
    }),
    ...transactions.bindWritesTo({
      recordConsents: shares.recordConsents,
      recordShare: shares.recordShare,
      withdrawShare: shares.withdrawShare,
      flagPostedShares: shares.flagShares,
      recordDecision: decide,
      recordRunDecisions,
      recordSeen: holds.recordSeen,
      watch: watchForRestore,
      acceptRestore,
    }),
    consents: {
      ...transactions.bindReads({ unmatchedCounts: shares.countUnmatched }),
      ...transactions.bindWritesTo({
        keep: shares.keepConsent,
        adopt: shares.adoptConsents,
        markSeen: shares.markConsentsSeen,
      }),
    },
    pauses: {
      ...transactions.bindReads({ list: pauses.readPauses, waiting: pauses.readWaiting }),
      ...transactions.bindWritesTo({ begin: pauses.beginPause, end: pauses.endPause, forget: pauses.forgetWaiting }),
    },
    tasks: {
      ...transactions.bindReads({
        open: holds.readOpenTasks,
        counts: holds.countTasks,
        countsOfRuns: holds.countTasksOfRuns,
        of: holds.readTasksOfOwner,
      }),
      ...transactions.bindWritesTo({
        openHold: holds.openHold,
        close: holds.closeTasks,
        flag: holds.flagRun,
      }),
    },
    retention: {
      // A review has up to a million rows.
      ...transactions.bindReads({ view: retention.readDisposalView, olderThan: retention.readOlderThan }, true),
      ...transactions.bindReads({
        unfinished: retention.readUnfinished,
        isBegun: isDisposalBegun,
        legalHolds: retention.readHolds,
      }),
      // Another database may answer at the same address by now: nothing of it may be destroyed.
      ...transactions.bindLongWrites(
        {
          begin: retention.beginDisposal,
          recordDeletion: retention.recordDeletion,
          dispose: retention.dispose,
          setLegalHold: retention.setLegalHold,
          releaseLegalHold: retention.releaseLegalHold,
        },
        identity.ledgerId,
      ),
      scrub: () => transactions.engine.scrub(),
    },
  });
}

/** The methods of a ledger that take more than one transaction, or none. */
export class SqlLedger extends SealedReports {
  /** HMAC-SHA-256 under the ledger's own digest key, lower-case hex. */
  digest(text: string): string {
    return this.transactions.cipher.digest(text);
  }

  /** Seals the place where a page of a list ends, as text for an address. It opens with the same `bound` alone. */
  sealCursor(place: unknown, bound: string): string {
    return Buffer.from(this.transactions.cipher.sealValue(place, 'cursor', bound)).toString('base64url');
  }

  /** @throws SealBrokenError where the text was changed, or was sealed with another `bound` */
  openCursor(text: string, bound: string): unknown {
    const sealed = Buffer.from(text, 'base64url');
    // Node's decoder skips characters outside the alphabet.
    if (sealed.toString('base64url') !== text) throw new SealBrokenError('a cursor must be base64url');
    return this.transactions.cipher.unsealValue(sealed, 'cursor', bound);
  }

  async claim(request: records.ClaimRequest): Promise<records.ClaimVerdict> {
    const verdict = await this.transactions.write((tx) => claimAttempt(tx, request));
    // This has a transaction of its own, since nothing of the claim is kept. One run's finding counts for all.
    if (verdict.kind === 'ledgerRestored') {
      await this.transactions.writeTo(request.ledgerId, (tx) => watchForRestore(tx, request.highWaterMark));
    }
    return verdict;
  }

  closeAttempt(request: records.CloseRequest): Promise<AttemptView> {
    return this.transactions.writeTo(request.ledgerId, (tx) => lookUpAndClose(tx, request));
  }

  /**
   * Idempotent. `report` is the answer's JSON text. It is sealed first, and written in the same transaction, as is
   * `refusal`.
   */
  async recordOutcome(
    record: records.OutcomeRecord,
    report?: string,
    refusal?: SealedRefusal,
  ): Promise<records.RecordVerdict> {
    const sealed = report === undefined ? undefined : await this.seal('report', record, report);
    return this.transactions.write((tx) => recordAttempt(tx, record, { report: sealed, refusal }));
  }

  rewrapDataKeys() {
    return rewrapDataKeys(this.transactions, this.keys, this.identity.ledgerId);
  }

  close(): Promise<void> {
    return this.transactions.engine.close();
  }
}

export type StartFacts = Awaited<ReturnType<typeof readStartFacts>>;

/**
 * Reads only: what a run that begins asks, of the run's owner (model/run-key.ts): whether a disposal was begun, consents came
 * before it, or something needs a person.
 */
async function readStartFacts(tx: Transaction, runKey: string) {
  const [isDisposed, { newest }, consents, tasks] = await Promise.all([
    isDisposalBegun(tx, runKey),
    readRestore(tx),
    readRows(tx, 'consents', { journeyId: runKey }, 'LIMIT 1'),
    readRows(tx, 'operator_tasks', { runKey: isOfOwner(runKey), closedAt: null }, 'LIMIT 1'),
  ]);
  return { hasConsents: consents.length > 0, hasOpenTasks: tasks.length > 0, isDisposed, newest };
}
