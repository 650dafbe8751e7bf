/** The ledger on a SQL engine: implements the port, each call in one transaction. */
import { utcInstant } from '../base/instants.ts';
import type { ConsentRecord } from '../consent/consent-record.ts';
import type { RestoreState, SeenAttempt } from '../messages/ledger-watch.ts';
import type { AttemptView, InquiryDescription, RefusalBody } from '../model/inquiry.ts';
import type { ProductCode } from '../model/products.ts';
import { SealBrokenError } from '../protection/errors.ts';
import type { KeyWrapper } from '../protection/keys/key-ring.ts';
import { type LedgerCipher, seal, unseal } from '../protection/sealed/sealing.ts';
import { verifyChain } from './audit/audit-chain.ts';
import type {
  AuditedAttempt,
  AuditedConsent,
  AuditedDecision,
  AuditedDisposal,
  AuditedShare,
  AuditedShareWithdrawal,
  DecisionsQuery,
  InquiriesQuery,
  NamedRecord,
  RecordsQuery,
  SharesQuery,
} from './audit/audited.ts';
import { auditedAttempts } from './audit/inquiry-pages.ts';
import {
  auditedConsents,
  auditedDecisions,
  auditedDisposals,
  auditedShareWithdrawals,
  readNamed,
} from './audit/record-pages.ts';
import { auditedShares } from './audit/share-pages.ts';
import { insertConsents } from './consents/consents.ts';
import { SqlKeptConsents } from './consents/kept-consents.ts';
import type { Durability } from './database/durability.ts';
import { currentWriter } from './database/schema.ts';
import {
  keptWhereTrue,
  LostRaceError,
  type SqlEngine,
  type SqlSession,
  type WriteTo,
  type Writing,
  type Written,
} from './database/sql-session.ts';
import { rewrapDataKeys } from './database/wrapped-keys.ts';
import { DisposedError, LedgerUnavailableError } from './errors.ts';
import { insertSeen } from './holds/holds.ts';
import { readOldestOpen, readOpenInquiries, withNeeds } from './holds/open-inquiries.ts';
import { openOfOwner, SqlWork } from './holds/work-lists.ts';
import {
  claimAttempt,
  decide,
  lookUpAndClose,
  ownState,
  recordAttempt,
  requireSameLedger,
  requireSameRequest,
} from './inquiries/inquiry-transactions.ts';
import { latestView, readInquiries } from './inquiries/inquiry-views.ts';
import { lockInquiry } from './inquiries/inquiry-writes.ts';
import { type OpenedLedger, readClock, readMayWrite, readOwnDurability } from './own-state.ts';
import { noteWaiting, SqlPauses } from './pauses.ts';
import type { LedgerIdentity } from './port.ts';
import type {
  ChainReport,
  ClaimRequest,
  ClaimVerdict,
  CloseRequest,
  ConsentsQuery,
  ConsentVerdict,
  DecisionRecord,
  DecisionVerdict,
  DerivedDocument,
  EndingMessage,
  InquiryView,
  OpenInquiriesQuery,
  OpenInquiry,
  OpenWork,
  OutcomeRecord,
  PlannedShare,
  RecordVerdict,
  ReferredInquiry,
  ReportOrigin,
  ReportToCompare,
  RequestDigests,
  RestoreAcceptance,
  RewrapResult,
  RunDecision,
  SeenRecord,
  SeenVerdict,
  ShareFacts,
  ShareWithdrawal,
  ShareWithdrawalVerdict,
  StartFacts,
  StoredDocument,
  StoredReport,
} from './records.ts';
import type { SealedRefusal } from './reports/reading.ts';
import { readReferredInquiries } from './reports/report-references.ts';
import {
  disposalOfAny,
  disposedReport,
  insertDerived,
  newestDerived,
  newestReport,
  openToCompare,
  REFUSAL,
  readToCompare,
} from './reports/reports.ts';
import { SqlReading } from './reports/sql-reading.ts';
import { insertAcceptance, insertFound, readRestore } from './restores.ts';
import { readDisposalOf } from './retention/retention-log.ts';
import { SqlRetention } from './retention/sql-retention.ts';
import { hasEndingMessage, insertRunDecisions } from './run-decisions.ts';
import { flagShares, insertShare, readShareFacts, withdrawShare } from './shares/shares.ts';

/** A transaction that loses a race reads again, and then finds the winner's row. Losing twice would be unusual. */
const MAX_RACES = 3;

export class SqlLedger implements OpenedLedger {
  readonly identity: LedgerIdentity;
  readonly retention: SqlRetention;
  readonly kept: SqlKeptConsents;
  readonly pauses: SqlPauses;
  readonly reading: SqlReading;
  readonly work: SqlWork;
  readonly #engine: SqlEngine;
  /** Refuses where the ledger asks for a newer program. Claims return that; outcomes are recorded all the same. */
  readonly #current: SqlEngine;
  readonly #cipher: LedgerCipher;
  readonly #keys: KeyWrapper;

  constructor(engine: SqlEngine, identity: LedgerIdentity, cipher: LedgerCipher, keys: KeyWrapper) {
    this.#engine = engine;
    this.#current = currentWriter(engine);
    this.identity = identity;
    this.kept = new SqlKeptConsents(this.#current, (session) => ({ session, dialect: engine.dialect, cipher }));
    const writeTo: WriteTo = (ledgerId, work) => this.#writeTo(ledgerId, work);
    this.retention = new SqlRetention(this.#current, identity, writeTo);
    this.pauses = new SqlPauses(this.#current, writeTo);
    this.reading = new SqlReading(engine, keys, this);
    this.work = new SqlWork(this.#current, writeTo);
    this.#cipher = cipher;
    this.#keys = keys;
  }

  digest(text: string): string {
    return this.#cipher.digest(text);
  }

  sealCursor(place: unknown, bound: string): string {
    return Buffer.from(this.#cipher.sealValue(place, 'cursor', bound)).toString('base64url');
  }

  openCursor(text: string, bound: string): unknown {
    const sealed = Buffer.from(text, 'base64url');
    // Node skips characters that are not of the alphabet.
    if (sealed.toString('base64url') !== text) throw new SealBrokenError('a cursor must be base64url');
    return this.#cipher.unsealValue(sealed, 'cursor', bound);
  }

  async claim(request: ClaimRequest): Promise<ClaimVerdict> {
    for (let races = 1; ; races++) {
      const verdict = await this.#write((writing) => claimAttempt(writing, request), this.#engine);
      // These have transactions of their own, since nothing of the claim is kept. One run's finding counts for all.
      if (verdict.kind === 'ledgerRestored') await this.watch(request.ledgerId, request.seen);
      // Where the pause has ended meanwhile, `resume` would not find the note: the claim is made again.
      if (verdict.kind !== 'paused' || (await this.#noteWaiting(request)) || races >= MAX_RACES) return verdict;
    }
  }

  #noteWaiting(request: ClaimRequest): Promise<boolean> {
    return this.#write(async (writing) => keptWhereTrue(await noteWaiting(writing, request)));
  }

  async recordOutcome(record: OutcomeRecord, report?: string, refusal?: SealedRefusal): Promise<RecordVerdict> {
    const { customerTraceNumber, attempt } = record;
    // Before the transaction: a key management service may be slow, and a lock must not wait for it.
    const sealed =
      report === undefined
        ? undefined
        : await seal(this.#keys, report, { ledgerId: this.identity.ledgerId, customerTraceNumber, attempt });
    return this.#write((writing) => recordAttempt(writing, record, { report: sealed, refusal }), this.#engine);
  }

  async sealRefusal(attempt: ReportOrigin, { text, isWhole }: RefusalBody): Promise<SealedRefusal> {
    const { ledgerId } = this.identity;
    return { sealed: await seal(this.#keys, text, { ledgerId, ...attempt, kind: REFUSAL }), isWhole };
  }

  lookUp(ledgerId: string, customerTraceNumber: string, digests?: RequestDigests): Promise<AttemptView | null> {
    return this.#engine.read(async (session) => {
      const state = await ownState({ session, dialect: this.#engine.dialect }, ledgerId, customerTraceNumber);
      if (digests) requireSameRequest(state, digests);
      return latestView(state, this.#cipher);
    });
  }

  closeAttempt(request: CloseRequest): Promise<AttemptView> {
    return this.#write((writing) => lookUpAndClose(writing, request));
  }

  recordDecision(ledgerId: string, inquiry: InquiryDescription, decision: DecisionRecord): Promise<DecisionVerdict> {
    const { customerTraceNumber } = inquiry;
    if (decision.customerTraceNumber !== customerTraceNumber) throw new Error('a decision about another inquiry');
    return this.#write((writing) => decide(writing, ledgerId, inquiry, decision));
  }

  recordConsents(ledgerId: string, consents: readonly ConsentRecord[]): Promise<ConsentVerdict[]> {
    return this.#writeTo(ledgerId, async (writing) => ({ keep: true, value: await insertConsents(writing, consents) }));
  }

  flagPostedShares(ledgerId: string, consent: ConsentRecord): Promise<number> {
    return this.#writeTo(ledgerId, async (writing) => {
      const flagged = await flagShares(writing, consent);
      return { keep: flagged > 0, value: flagged };
    });
  }

  inquiriesReferredTo(reportReferenceNumber: string): Promise<ReferredInquiry[]> {
    return this.#engine.read((session) =>
      readReferredInquiries(session, this.#engine.dialect, this.#cipher, reportReferenceNumber),
    );
  }

  recordShare(ledgerId: string, share: PlannedShare): Promise<boolean> {
    return this.#writeTo(ledgerId, async (writing) => keptWhereTrue(await insertShare(writing, share)));
  }

  withdrawShare(ledgerId: string, withdrawal: ShareWithdrawal): Promise<ShareWithdrawalVerdict> {
    return this.#writeTo(ledgerId, (writing) => withdrawShare(writing, withdrawal));
  }

  async recordRunDecisions(ledgerId: string, decisions: readonly RunDecision[]): Promise<void> {
    await this.#writeTo(ledgerId, async (writing) => keptWhereTrue(await insertRunDecisions(writing, decisions)));
  }

  hasEndingMessage(message: EndingMessage): Promise<boolean> {
    return this.#engine.read((session) => hasEndingMessage(session, message));
  }

  withdrawnSharesBetween(query: RecordsQuery = {}): AsyncIterable<AuditedShareWithdrawal> {
    return auditedShareWithdrawals(this.#engine, query);
  }

  shareFacts(query: ConsentsQuery): Promise<ShareFacts> {
    return this.#engine.read((session) => readShareFacts(session, this.#engine.dialect, this.#cipher, query));
  }

  sharesBetween(query: SharesQuery = {}): AsyncIterable<AuditedShare> {
    return auditedShares(this.#engine, this.#cipher, query);
  }

  inquiriesOf(ownerId: string): Promise<InquiryView[]> {
    return this.#read('SELECT customer_trace_number FROM inquiries WHERE owner_id = $1', ownerId);
  }

  async inquiry(customerTraceNumber: string): Promise<OpenInquiry | null> {
    const [found] = await this.#read('$1', customerTraceNumber);
    return found ? withNeeds(found) : null;
  }

  openInquiries(query: OpenInquiriesQuery = {}): Promise<OpenInquiry[]> {
    return this.#engine.read((session) => readOpenInquiries(session, this.#engine.dialect, query, this.#cipher));
  }

  inquiriesBetween(query: InquiriesQuery = {}): AsyncIterable<AuditedAttempt> {
    return auditedAttempts(this.#engine, this.#cipher, query);
  }

  decisionsBetween(query: DecisionsQuery = {}): AsyncIterable<AuditedDecision> {
    return auditedDecisions(this.#engine, query);
  }

  consentsBetween(query: RecordsQuery = {}): AsyncIterable<AuditedConsent> {
    return auditedConsents(this.#engine, query);
  }

  disposalsBetween(query: RecordsQuery = {}): AsyncIterable<AuditedDisposal> {
    return auditedDisposals(this.#engine, query);
  }

  oldestOpen(limit: number): Promise<OpenWork[]> {
    return this.#engine.read((session) => readOldestOpen(session, this.#engine.dialect, limit));
  }

  recordSeen(ledgerId: string, seen: SeenRecord): Promise<SeenVerdict> {
    return this.#write(async (writing) => {
      await lockInquiry(writing, seen.customerTraceNumber);
      await this.#checkLedger(writing.session, ledgerId);
      const verdict = await insertSeen(writing, seen);
      return { keep: verdict.kind === 'recorded', value: verdict };
    });
  }

  async readReport(ownerId: string, productCode: ProductCode, ofInquiry?: string): Promise<StoredReport | null> {
    const wanted = { ownerId, productCode, customerTraceNumber: ofInquiry };
    const { sealed, disposedAtMs } = await this.#engine.read(async (session) => ({
      sealed: await newestReport(session, wanted),
      disposedAtMs: await disposedReport(session, wanted),
    }));
    if (!sealed && disposedAtMs !== null) throw new DisposedError(utcInstant(disposedAtMs));
    if (!sealed) return null;
    const { customerTraceNumber, attempt, storedAtMs } = sealed;
    const body = await unseal(this.#keys, sealed, { ledgerId: this.identity.ledgerId, customerTraceNumber, attempt });
    return { customerTraceNumber, productCode, attempt, storedAt: utcInstant(storedAtMs), body };
  }

  async reportsToCompare(ledgerId: string, customerTraceNumbers: readonly string[]): Promise<ReportToCompare[]> {
    const asked = await this.#engine.read((session) => readToCompare(session, this.#cipher, customerTraceNumbers));
    requireSameLedger(ledgerId, asked.ledgerId);
    return Promise.all(asked.found.map((found) => openToCompare(this.#keys, ledgerId, found)));
  }

  async keepDerived(ledgerId: string, document: DerivedDocument, text: string): Promise<boolean> {
    const { kind, of, from } = document;
    const sealed = await seal(this.#keys, text, { ledgerId, ...of, kind });
    return this.#write(async (writing) => {
      const sources = [of.customerTraceNumber, from.customerTraceNumber].sort();
      for (const source of sources) await lockInquiry(writing, source);
      const found = await disposalOfAny(writing.session, sources);
      requireSameLedger(ledgerId, found.ledgerId);
      const isDisposed = found.disposedAtMs !== null;
      if (!isDisposed) await insertDerived(writing, document, sealed);
      return { keep: !isDisposed, value: !isDisposed };
    });
  }

  async readDerived(ownerId: string, kind: DerivedDocument['kind']): Promise<StoredDocument | null> {
    const found = await this.#engine.read((session) => newestDerived(session, ownerId, kind));
    if (!found) return null;
    if (found.disposedAtMs !== undefined) throw new DisposedError(utcInstant(found.disposedAtMs));
    const { of, from, sealed, storedAtMs } = found;
    const body = await unseal(this.#keys, sealed, { ledgerId: this.identity.ledgerId, ...of, kind });
    return { kind, of, from, storedAt: utcInstant(storedAtMs), body };
  }

  watch(ledgerId: string, seen?: SeenAttempt): Promise<RestoreState> {
    return this.#writeTo(ledgerId, async (writing) => {
      const state = await readRestore(writing.session, seen);
      const isNew = state.lost !== undefined && state.lost === seen;
      if (isNew && state.lost) await insertFound(writing, state.lost);
      return { keep: isNew, value: state };
    });
  }

  restoreState(seen?: SeenAttempt): Promise<RestoreState> {
    return this.#engine.read((session) => readRestore(session, seen));
  }

  startFacts(ownerId: string): Promise<StartFacts> {
    return this.#engine.read((session) => readStartFacts(session, ownerId));
  }

  acceptRestore(ledgerId: string, acceptance: RestoreAcceptance): Promise<RestoreState> {
    return this.#writeTo(ledgerId, async (writing) => {
      const state = await readRestore(writing.session);
      await insertAcceptance(writing, acceptance, state.newest);
      return { keep: true, value: state };
    });
  }

  rewrapDataKeys(): Promise<RewrapResult> {
    return rewrapDataKeys(this.#current, this.#keys, this.identity);
  }

  verifyChain(options: { expectHead?: string } = {}): Promise<ChainReport> {
    return verifyChain(this.#engine, this.#cipher, options);
  }

  mayWrite(): Promise<boolean> {
    return readMayWrite(this.#engine);
  }

  durability(): Promise<Durability> {
    return readOwnDurability(this.#engine);
  }

  ping(): Promise<{ now: string }> {
    return readClock(this.#engine);
  }

  recordsNamed(name: string): Promise<NamedRecord[]> {
    return this.#engine.read((session) => readNamed(session, name));
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #read(traceNumbers: string, value: string): Promise<InquiryView[]> {
    const selection = { traceNumbers, values: [value] };
    return this.#engine.read((session) => readInquiries(session, this.#engine.dialect, selection, this.#cipher));
  }

  /** Reads the id from the database each time: another database may answer at the same address by now. */
  async #checkLedger(session: SqlSession, ledgerId: string): Promise<void> {
    const [row] = await session.rows<{ ledger_id: string }>('SELECT ledger_id FROM ledger_identity');
    requireSameLedger(ledgerId, row?.ledger_id ?? 'none');
  }

  /** One transaction in the ledger of this id. */
  #writeTo<T>(ledgerId: string, work: (writing: Writing) => Promise<Written<T>>): Promise<T> {
    return this.#write(async (writing) => {
      await this.#checkLedger(writing.session, ledgerId);
      return work(writing);
    });
  }

  async #write<T>(work: (writing: Writing) => Promise<Written<T>>, engine = this.#current): Promise<T> {
    for (let races = 0; races < MAX_RACES; races++) {
      try {
        return await engine.write((session) => work({ session, dialect: engine.dialect, cipher: this.#cipher }));
      } catch (error) {
        if (!(error instanceof LostRaceError)) throw error;
      }
    }
    throw new LedgerUnavailableError('the ledger was taken by others each time');
  }
}

/** What a run that begins asks the ledger, in one transaction. */
async function readStartFacts(session: SqlSession, ownerId: string): Promise<StartFacts> {
  const work = openOfOwner(ownerId);
  const [disposedAt, { newest }, consents, open] = await Promise.all([
    readDisposalOf(session, ownerId),
    readRestore(session),
    session.rows('SELECT 1 FROM consents WHERE journey_id = $1 LIMIT 1', [ownerId]),
    session.rows(work.text, work.values),
  ]);
  return {
    hasConsents: consents.length > 0,
    hasOpenWork: open.length > 0,
    ...(disposedAt === null ? {} : { disposedAt: utcInstant(disposedAt) }),
    ...(newest ? { newest } : {}),
  };
}
