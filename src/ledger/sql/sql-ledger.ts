/** The ledger on a SQL engine: what the port promises, by the rules of claim.ts, outcome.ts and decision.ts. */
import { isDeepStrictEqual } from 'node:util';
import { otherContent } from '../../base/differing-paths.ts';
import { utcInstant } from '../../base/instants.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { RestoreState, SeenAttempt } from '../../messages/ledger-watch.ts';
import type { AttemptView, InquiryDescription } from '../../model/inquiry.ts';
import type { ProductCode } from '../../model/products.ts';
import { resendRule } from '../../model/resend-rule.ts';
import type { KeyWrapper } from '../../protection/keys/key-ring.ts';
import { type LedgerCipher, type Sealed, seal, unseal } from '../../protection/sealed/sealing.ts';
import { verifyChain } from '../audit/audit-verification.ts';
import { decideClaim } from '../claim.ts';
import { decideClose } from '../close.ts';
import { oldestWriterOf, SCHEMA_VERSION } from '../database/schema.ts';
import { LostRaceError, type SqlEngine, type SqlSession, type Written } from '../database/sql-session.ts';
import { currentWriter } from '../database/writer-version.ts';
import type { Writing } from '../database/writing.ts';
import { type DecisionEffect, decideDecision } from '../decision.ts';
import { DisposedError, LedgerChangedError, LedgerUnavailableError, RequestDiffersError } from '../errors.ts';
import type { AuditedAttempt, InquiriesQuery } from '../inquiry-audit.ts';
import { decideOutcome } from '../outcome.ts';
import type { Ledger, LedgerIdentity } from '../port.ts';
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
  InquiryView,
  OpenInquiriesQuery,
  OpenInquiry,
  OpenWork,
  OutcomeRecord,
  RecordVerdict,
  ReferredInquiry,
  RequestDigests,
  RestoreAcceptance,
  RewrapResult,
  SeenRecord,
  SeenVerdict,
  ShareFacts,
  ShareRecord,
  StoredDocument,
  StoredReport,
} from '../records.ts';
import { comparableDigest } from '../request-digests.ts';
import { acceptProblem } from '../rows/accept-problem.ts';
import { objectionOf, readClaimedShare } from '../rows/claimed-shares.ts';
import { insertConsents, linkConsents } from '../rows/consent-rows.ts';
import { disposalOfAny, insertDerived, newestDerived } from '../rows/derived-rows.ts';
import { auditedAttempts } from '../rows/inquiry-audit-pages.ts';
import { type AttemptRow, type InquiryState, latestIsOverdue, openAnswer, readState } from '../rows/inquiry-rows.ts';
import { differencesToDecided, latestView, readInquiries, standingView } from '../rows/inquiry-views.ts';
import {
  insertAttempt,
  insertClosed,
  insertDecision,
  insertInquiry,
  lockInquiry,
  markClaimed,
  markUnknown,
  readRepeat,
  writeAbandoned,
  writeAccepted,
  writeLate,
  writeOutcome,
} from '../rows/inquiry-writes.ts';
import { insertSeen, readOldestOpen, readOpenInquiries, withNeeds } from '../rows/open-inquiries.ts';
import { flagIfRefused, flagShares } from '../rows/refused-postings.ts';
import { indexReference, readReferredInquiries } from '../rows/report-references.ts';
import { disposedReport, insertReport, newestReport, reportOfInquiry } from '../rows/report-rows.ts';
import { insertShare, readShareFacts } from '../rows/report-shares.ts';
import { insertAcceptance, insertFound, readRestore } from '../rows/restores.ts';
import { auditedShares } from '../rows/share-audit-pages.ts';
import type { AuditedShare, SharesQuery } from '../share-audit.ts';
import { rewrapDataKeys } from './rewrapping.ts';
import { SqlKeptConsents } from './sql-kept-consents.ts';
import { SqlRetention } from './sql-retention.ts';

/** Who loses a race reads again, and by then the winner's row is there: twice would already be strange. */
const MAX_RACES = 3;

export class SqlLedger implements Ledger {
  readonly identity: LedgerIdentity;
  readonly retention: SqlRetention;
  readonly kept: SqlKeptConsents;
  readonly #engine: SqlEngine;
  /** Refuses where the ledger asks for a newer program; claims say so themselves, and outcomes are recorded all the same. */
  readonly #current: SqlEngine;
  readonly #cipher: LedgerCipher;
  readonly #keys: KeyWrapper;

  constructor(engine: SqlEngine, identity: LedgerIdentity, cipher: LedgerCipher, keys: KeyWrapper) {
    this.#engine = engine;
    this.#current = currentWriter(engine);
    this.identity = identity;
    this.retention = new SqlRetention(this.#current, identity);
    this.kept = new SqlKeptConsents(this.#current, (session) => ({ session, dialect: engine.dialect, cipher }));
    this.#cipher = cipher;
    this.#keys = keys;
  }

  digest(text: string): string {
    return this.#cipher.digest(text);
  }

  async claim(request: ClaimRequest): Promise<ClaimVerdict> {
    const verdict = await this.#claim(request);
    // What one run has found holds for all: in a transaction of its own, since nothing of the claim is kept.
    if (verdict.kind === 'ledgerRestored') await this.watch(request.ledgerId, request.seen);
    return verdict;
  }

  #claim(request: ClaimRequest): Promise<ClaimVerdict> {
    const { customerTraceNumber } = request.inquiry;
    const work = async (writing: Writing): Promise<Written<ClaimVerdict>> => {
      const { permittedRepeat, otherNumber } = await readRepeat(writing.session, request.inquiry);
      const isNew = await insertInquiry(
        writing,
        request.inquiry,
        otherNumber ? undefined : { ...request, permittedRepeat },
      );
      if (!isNew) await lockInquiry(writing, customerTraceNumber);
      const state = await this.#state(writing.session, customerTraceNumber);
      const digest = comparableDigest(state.inquiry, request.digests);
      // Neither ours nor there: another number has taken the key since it was read.
      if (!state.inquiry) throw new LostRaceError('the number was taken');
      const share = await readClaimedShare(writing, request);
      const { lost } = await readRestore(writing.session, request.seen);
      const known = {
        ...{ ...state.known, isRestored: lost !== undefined },
        ...(otherNumber ? { otherNumber } : {}),
        ...(share ? { share } : {}),
      };
      const decision = decideClaim(known, { ...request, digest, writer: SCHEMA_VERSION });
      switch (decision.kind) {
        case 'anotherNumber':
        case 'requestDiffers':
        case 'ledgerRestored':
        case 'ledgerChanged':
        case 'writerTooOld':
          return { keep: false, value: decision };
        case 'notPermitted':
          return { keep: false, value: { ...decision, ...objectionOf(share) } };
        case 'latest':
          return {
            keep: await settleOverdue(writing, state, customerTraceNumber),
            value: { kind: 'latest', latest: standingView(state, this.#cipher) },
          };
        case 'claim': {
          await settleOverdue(writing, state, customerTraceNumber);
          const { claimedAt, position } = await insertAttempt(writing, request, decision.permittedBy);
          await insertConsents(writing, request.consents);
          await linkConsents(writing, { customerTraceNumber, attempt: request.attempt }, request.consents);
          await insertClaimedShare(writing, request);
          if (!isNew || otherNumber) await markClaimed(writing, { ...request, permittedRepeat });
          return {
            keep: true,
            value: {
              kind: 'claimed',
              attempt: request.attempt,
              claimedAt: utcInstant(claimedAt),
              firstClaimedAt: utcInstant(state.attempts[0]?.claimed_at ?? claimedAt),
              ...(request.resendAfterMs ? { resendFrom: utcInstant(claimedAt + request.resendAfterMs) } : {}),
              position,
            },
          };
        }
      }
    };
    return this.#write(work, this.#engine);
  }

  async recordOutcome(record: OutcomeRecord, report?: string): Promise<RecordVerdict> {
    const { customerTraceNumber, attempt } = record;
    // Before the transaction: a key management service may take its time, and a lock must not wait for it.
    const sealed =
      report === undefined
        ? undefined
        : await seal(this.#keys, report, { ledgerId: this.identity.ledgerId, customerTraceNumber, attempt });
    const work = async (writing: Writing): Promise<Written<RecordVerdict>> => {
      await lockInquiry(writing, customerTraceNumber);
      const state = await this.#ownState(writing.session, record.ledgerId, customerTraceNumber);
      const row = state.attempts.find((candidate) => candidate.attempt === attempt);
      const isRepeated = row !== undefined && says(row, record, this.#cipher);
      const { kind } = decideOutcome(state.known, { attempt, state: record.state, isRepeated });
      const isDisposed = state.known.disposal === 'done';
      switch (kind) {
        case 'missing':
          return { keep: false, value: 'missing' };
        case 'already':
          // Recorded once without its report, by a run that had none.
          return {
            keep: await keepReport(
              writing,
              record,
              record.state === 'answered' && !isDisposed ? sealed : undefined,
              false,
            ),
            value: 'already',
          };
        case 'late':
          if (row?.late_state !== record.state) await writeLate(writing, record, !isDisposed);
          await flagIfRefused(writing, record);
          await indexReference(writing, record, { isDisposed });
          await keepReport(writing, record, isDisposed ? undefined : sealed, true);
          return { keep: true, value: 'late' };
        case 'record':
          await writeOutcome(writing, record);
          await flagIfRefused(writing, record);
          await indexReference(writing, record);
          await keepReport(writing, record, sealed, false);
          return { keep: true, value: 'recorded' };
      }
    };
    return this.#write(work, this.#engine);
  }

  lookUp(ledgerId: string, customerTraceNumber: string, digests?: RequestDigests): Promise<AttemptView | null> {
    return this.#engine.read(async (session) => {
      const state = await this.#ownState(session, ledgerId, customerTraceNumber);
      if (digests) requireSameRequest(state, digests);
      return latestView(state, this.#cipher);
    });
  }

  closeAttempt(request: CloseRequest): Promise<AttemptView> {
    const { inquiry, attempt, run } = request;
    const { customerTraceNumber } = inquiry;
    return this.#write(async (writing): Promise<Written<AttemptView>> => {
      await insertInquiry(writing, inquiry);
      await lockInquiry(writing, customerTraceNumber);
      const state = await this.#ownState(writing.session, request.ledgerId, customerTraceNumber);
      requireSameRequest(state, request.digests);
      const digest = comparableDigest(state.inquiry, request.digests);
      const decision = decideClose(state.known, { ...request, digest, writer: SCHEMA_VERSION });
      switch (decision.kind) {
        case 'ledgerChanged':
          throw new LedgerChangedError(`attempt ${attempt} has none before it`);
        case 'writerTooOld':
          throw new LedgerUnavailableError('the ledger takes no writer as old as this one');
        case 'close': {
          const closedAt = utcInstant(await insertClosed(writing, request, decision.permittedBy));
          return { keep: true, value: { attempt, state: 'notSent', closedAt, runId: run.runId } };
        }
        default:
          return {
            keep: await settleOverdue(writing, state, customerTraceNumber),
            value: standingView(state, this.#cipher),
          };
      }
    });
  }

  recordDecision(ledgerId: string, inquiry: InquiryDescription, decision: DecisionRecord): Promise<DecisionVerdict> {
    const { customerTraceNumber } = inquiry;
    if (decision.customerTraceNumber !== customerTraceNumber) throw new Error('a decision about another inquiry');
    return this.#write(async (writing): Promise<Written<DecisionVerdict>> => {
      await insertInquiry(writing, inquiry);
      await lockInquiry(writing, customerTraceNumber);
      const state = await this.#ownState(writing.session, ledgerId, customerTraceNumber);
      const differing = await differencesToDecided(writing.session, state, decision, this.#cipher);
      if (differing.length > 0) {
        return { keep: false, value: { kind: 'refused', reason: otherContent('/decisionId was used', differing) } };
      }
      const effect = decideDecision(state.known, decision);
      if (effect.kind === 'repeated') return { keep: false, value: { kind: 'recorded' } };
      const settled = await settleOverdue(writing, state, customerTraceNumber);
      if (effect.kind === 'overtaken') {
        return { keep: settled, value: { kind: 'overtaken', latest: standingView(state, this.#cipher) } };
      }
      const reason =
        effect.kind === 'tooEarly'
          ? resendRule(utcInstant(state.nowMs + effect.resendInMs))
          : await acceptProblem(writing, inquiry, decision);
      if (reason) return { keep: settled, value: { kind: 'refused', reason } };
      await insertDecision(writing, decision, effect.kind === 'permit' ? effect.attempt : undefined);
      await applyDecision(writing, decision, effect);
      return { keep: true, value: { kind: 'recorded' } };
    });
  }

  recordConsents(ledgerId: string, consents: readonly ConsentRecord[]): Promise<ConsentVerdict[]> {
    return this.#write(async (writing) => {
      await this.#checkLedger(writing.session, ledgerId);
      return { keep: true, value: await insertConsents(writing, consents) };
    });
  }

  flagPostedShares(ledgerId: string, consent: ConsentRecord): Promise<number> {
    return this.#write(async (writing) => {
      await this.#checkLedger(writing.session, ledgerId);
      const flagged = await flagShares(writing, consent);
      return { keep: flagged > 0, value: flagged };
    });
  }

  inquiriesReferredTo(reportReferenceNumber: string): Promise<ReferredInquiry[]> {
    return this.#engine.read((session) =>
      readReferredInquiries(session, this.#engine.dialect, this.#cipher, reportReferenceNumber),
    );
  }

  recordShare(ledgerId: string, share: ShareRecord): Promise<boolean> {
    return this.#write(async (writing) => {
      await this.#checkLedger(writing.session, ledgerId);
      const stands = await insertShare(writing, share);
      return { keep: stands, value: stands };
    });
  }

  shareFacts(query: ConsentsQuery): Promise<ShareFacts> {
    return this.#engine.read((session) => readShareFacts(session, this.#engine.dialect, this.#cipher, query));
  }

  sharesBetween(query: SharesQuery = {}): AsyncIterable<AuditedShare> {
    return auditedShares(this.#engine, this.#cipher, query);
  }

  inquiriesOf(callerId: string): Promise<InquiryView[]> {
    return this.#read('SELECT customer_trace_number FROM inquiries WHERE caller_id = $1', callerId);
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

  async readReport(callerId: string, productCode: ProductCode, ofInquiry?: string): Promise<StoredReport | null> {
    const wanted = { callerId, productCode, customerTraceNumber: ofInquiry };
    const { sealed, disposedAtMs } = await this.#engine.read(async (session) => ({
      sealed: await newestReport(session, wanted),
      disposedAtMs: await disposedReport(session, wanted),
    }));
    if (!sealed && disposedAtMs !== null) throw new DisposedError(utcInstant(disposedAtMs));
    if (!sealed) return null;
    const { customerTraceNumber, attempt, storedAtMs } = sealed;
    const { ledgerId } = this.identity;
    const body = await unseal(this.#keys, sealed, { ledgerId, customerTraceNumber, attempt });
    return { customerTraceNumber, productCode, attempt, storedAt: utcInstant(storedAtMs), body };
  }

  async readReportOf(ledgerId: string, customerTraceNumber: string): Promise<StoredReport | null> {
    const { sealed, disposal } = await this.#engine.read(async (session) => ({
      sealed: await reportOfInquiry(session, customerTraceNumber),
      disposal: await this.#disposalOf(session, ledgerId, [customerTraceNumber]),
    }));
    if (disposal !== null) throw new DisposedError(utcInstant(disposal));
    if (!sealed) return null;
    const { attempt, storedAtMs, productCode } = sealed;
    const body = await unseal(this.#keys, sealed, { ledgerId, customerTraceNumber, attempt });
    return { customerTraceNumber, productCode, attempt, storedAt: utcInstant(storedAtMs), body };
  }

  async keepDerived(ledgerId: string, document: DerivedDocument, text: string): Promise<boolean> {
    const { kind, of, from } = document;
    const sealed = await seal(this.#keys, text, { ledgerId, ...of, kind });
    return this.#write(async (writing) => {
      const sources = [of.customerTraceNumber, from.customerTraceNumber].sort();
      for (const source of sources) await lockInquiry(writing, source);
      const isDisposed = (await this.#disposalOf(writing.session, ledgerId, sources)) !== null;
      if (!isDisposed) await insertDerived(writing, document, sealed);
      return { keep: !isDisposed, value: !isDisposed };
    });
  }

  async readDerived(callerId: string, kind: DerivedDocument['kind']): Promise<StoredDocument | null> {
    const found = await this.#engine.read((session) => newestDerived(session, callerId, kind));
    if (!found) return null;
    if (found.disposedAtMs !== undefined) throw new DisposedError(utcInstant(found.disposedAtMs));
    const { of, from, sealed, storedAtMs } = found;
    const body = await unseal(this.#keys, sealed, { ledgerId: this.identity.ledgerId, ...of, kind });
    return { kind, of, from, storedAt: utcInstant(storedAtMs), body };
  }

  watch(ledgerId: string, seen?: SeenAttempt): Promise<RestoreState> {
    return this.#write(async (writing) => {
      await this.#checkLedger(writing.session, ledgerId);
      const state = await readRestore(writing.session, seen);
      const isNew = state.lost !== undefined && state.lost === seen;
      if (isNew && state.lost) await insertFound(writing, state.lost);
      return { keep: isNew, value: state };
    });
  }

  restoreState(seen?: SeenAttempt): Promise<RestoreState> {
    return this.#engine.read((session) => readRestore(session, seen));
  }

  acceptRestore(ledgerId: string, acceptance: RestoreAcceptance): Promise<RestoreState> {
    return this.#write(async (writing) => {
      await this.#checkLedger(writing.session, ledgerId);
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

  async mayWrite(): Promise<boolean> {
    return (await this.#engine.read(oldestWriterOf)) <= SCHEMA_VERSION;
  }

  async ping(): Promise<{ now: string }> {
    const [row] = await this.#engine.read((session) =>
      session.rows<{ now: number }>(`SELECT ${this.#engine.dialect.now} AS now FROM ledger_identity`),
    );
    if (!row) throw new LedgerChangedError('the database that answers holds no ledger');
    return { now: utcInstant(row.now) };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #read(traceNumbers: string, value: string): Promise<InquiryView[]> {
    const selection = { traceNumbers, values: [value] };
    return this.#engine.read((session) => readInquiries(session, this.#engine.dialect, selection, this.#cipher));
  }

  #state(session: SqlSession, customerTraceNumber: string): Promise<InquiryState> {
    return readState(session, this.#engine.dialect, customerTraceNumber);
  }

  async #ownState(session: SqlSession, ledgerId: string, customerTraceNumber: string): Promise<InquiryState> {
    const state = await this.#state(session, customerTraceNumber);
    requireSame(ledgerId, state.known.ledgerId);
    return state;
  }

  /** Read from the database each time: another one may answer at the same address by now. */
  async #checkLedger(session: SqlSession, ledgerId: string): Promise<void> {
    const [row] = await session.rows<{ ledger_id: string }>('SELECT ledger_id FROM ledger_identity');
    requireSame(ledgerId, row?.ledger_id ?? 'none');
  }

  async #disposalOf(session: SqlSession, ledgerId: string, inquiries: readonly string[]): Promise<number | null> {
    await this.#checkLedger(session, ledgerId);
    return disposalOfAny(session, inquiries);
  }

  async #write<T>(work: (writing: Writing) => Promise<Written<T>>, engine = this.#current): Promise<T> {
    const { dialect } = engine;
    for (let races = 0; races < MAX_RACES; races++) {
      try {
        return await engine.write((session) => work({ session, dialect, cipher: this.#cipher }));
      } catch (error) {
        if (!(error instanceof LostRaceError)) throw error;
      }
    }
    throw new LedgerUnavailableError('the ledger was taken by others each time');
  }
}

function requireSame(asked: string, found: string): void {
  if (asked !== found) throw new LedgerChangedError(`asked for ledger ${asked}, but this is ledger ${found}`);
}

function requireSameRequest({ known, inquiry }: InquiryState, digests: RequestDigests): void {
  if (known.digest === null || known.digest === comparableDigest(inquiry, digests)) return;
  throw new RequestDiffersError('another request was made under this trace number');
}

async function settleOverdue(writing: Writing, state: InquiryState, customerTraceNumber: string): Promise<boolean> {
  if (!latestIsOverdue(state)) return false;
  await markUnknown(writing, customerTraceNumber);
  await flagIfRefused(writing, { customerTraceNumber, attempt: state.attempts.at(-1)?.attempt ?? 0 });
  return true;
}

async function applyDecision(writing: Writing, decision: DecisionRecord, effect: DecisionEffect): Promise<void> {
  if (effect.kind === 'abandon') await writeAbandoned(writing, decision.customerTraceNumber);
  if (effect.kind !== 'accept') return;
  if (!decision.answer) throw new Error('accept without an answer');
  await writeAccepted(writing, decision, decision.answer);
  await indexReference(writing, decision);
}

async function insertClaimedShare(writing: Writing, { inquiry, sharedReference }: ClaimRequest): Promise<void> {
  const { callerId, shareId } = inquiry;
  if (sharedReference === undefined || shareId === undefined) return;
  await insertShare(writing, { callerId, shareId, reportReferenceNumber: sharedReference });
}

async function keepReport(
  writing: Writing,
  record: OutcomeRecord,
  sealed: Sealed | undefined,
  late: boolean,
): Promise<boolean> {
  if (!sealed) return false;
  await insertReport(writing, record, sealed, late);
  return true;
}

/**
 * Whether the row holds this news already. Compared by substance: a run that repeats what its activity could not
 * record does not know every detail, and a detail that it does not know is no other outcome.
 */
function says(row: AttemptRow, record: OutcomeRecord, cipher: LedgerCipher): boolean {
  if (record.state === 'answered') {
    if (!row.answer || !record.answer) return row.state === 'answered' && !record.answer;
    // As JSON, in which a field that is undefined is a field that is not there.
    const told = JSON.parse(JSON.stringify(record.answer));
    return isDeepStrictEqual(openAnswer(cipher, row.answer, row, 'answer'), told);
  }
  if (row.state !== record.state) return false;
  if (record.state !== 'unknown') return true;
  const agrees = (theirs: unknown, ours: unknown) => theirs === undefined || theirs === ours;
  return agrees(record.httpStatus, row.http_status) && agrees(record.failureType, row.failure_type);
}
