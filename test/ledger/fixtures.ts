/** Sample data and helpers of the ledger's tests. All persons are invented. */
import { createHash, createSecretKey, randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type {
  ClaimRequest,
  ClaimVerdict,
  CloseRequest,
  DecisionRecord,
  OutcomeRecord,
} from '../../src/ledger/records.ts';
import type { Answer, InquiryDescription } from '../../src/model/inquiry.ts';
import type { ProductCode } from '../../src/model/products.ts';
import { KEY_USES, KeyRing } from '../../src/protection/keys/key-ring.ts';

export const TRACE = 'PQAAAAAAAAAAAAAAAAAAAAAAAA00';

/** Returns the value as its JSON has it: without members that are undefined. */
export function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

export function keyRing(name = 'k'): KeyRing {
  return new KeyRing(
    KEY_USES.map((use) => ({
      id: `${name}-${use}`,
      use,
      createdAt: '2026-01-01T00:00:00Z',
      status: 'current' as const,
      secret: createSecretKey(randomBytes(32)),
    })),
  );
}

/** Returns the ring after a rotation of its `ledger` key: `k-ledger-2` is the current key. */
export function rotateRing({ keys }: KeyRing): KeyRing {
  const before = keys.map((key) => (key.use === 'ledger' ? { ...key, status: 'retired' as const } : key));
  const about = { id: 'k-ledger-2', use: 'ledger', createdAt: '2026-03-01T00:00:00Z', status: 'current' } as const;
  return new KeyRing([...before, { ...about, secret: createSecretKey(randomBytes(32)) }]);
}

/** Opens a ledger that was made with another ring, for one test. */
export async function openRotated(t: TestContext, url: string, ring: KeyRing): Promise<Ledger> {
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: ring });
  t.after(() => ledger.close());
  return ledger;
}

export const INQUIRY: InquiryDescription = {
  customerTraceNumber: TRACE,
  environment: 'sandbox',
  profile: 'default',
  customerId: 'HOUSE1',
  workflowType: 'lendingJourney',
  runKey: 'J-1',
  productCode: 'PREQUAL',
  ordinal: 0,
  endUserCode: 'EU1',
  permissiblePurposeCode: 'AA',
};

export const RECORD: Answer = {
  kind: 'outcome',
  outcome: 'record',
  returnCode: 'Record',
  reference: {
    reportReferenceNumber: 'REF-1',
    requestedAt: '2026-01-02T03:04:05.000Z',
    applicants: [{ applicantId: '01', consumerId: 'CONSUMER-SENTINEL' }],
  },
};
export const NO_RECORD: Answer = { kind: 'outcome', outcome: 'noRecord', returnCode: 'No Record' };
export const UNKNOWN_CODE: Answer = { kind: 'returnCodeUnknown', returnCode: 'Maybe' };

type ClaimChange = Partial<Omit<ClaimRequest, 'inquiry'>> & { inquiry?: Partial<InquiryDescription>; request?: string };

export function claimOf(ledger: Ledger, { inquiry, request = 'a request', ...change }: ClaimChange = {}): ClaimRequest {
  const described = { ...INQUIRY, ...inquiry };
  return {
    ledgerId: ledger.identity.ledgerId,
    inquiry: numbered(described),
    attempt: 1,
    digest: ledger.digest(request),
    run: { workflowId: 'journey-J-1', runId: 'run-1' },
    answerWithinMs: 60_000,
    consents: described.productCode === 'SECONDUSE' ? [grantFor(described)] : [],
    ...change,
  };
}

/** Returns the request that closes the attempt of this claim; the attempt began just now. */
export function closeOf(ledger: Ledger, change: ClaimChange = {}): CloseRequest {
  const { ledgerId, inquiry, attempt, digest, run } = claimOf(ledger, change);
  return { ledgerId, inquiry, attempt, digest, run, begunAt: new Date().toISOString() };
}

/** Gives another number of the same stage an ordinal of its own, as an amendment has. */
function numbered(inquiry: InquiryDescription): InquiryDescription {
  const { customerTraceNumber, ordinal } = inquiry;
  if (customerTraceNumber.endsWith('00') || ordinal > 0) return inquiry;
  return { ...inquiry, ordinal: createHash('sha256').update(customerTraceNumber).digest().readUInt32BE() };
}

/** Returns the one grant that the claim of a share needs. */
function grantFor({ runKey: journeyId, shareId = '', endUserCode, endUser }: InquiryDescription): ConsentRecord {
  const secondaryUser = { ...(endUserCode ? { endUserCode } : {}), ...(endUser ? { endUser } : {}) };
  return consentOf({ journeyId, shareId, secondaryUser });
}

export function outcomeOf(ledger: Ledger, change: Partial<OutcomeRecord>): OutcomeRecord {
  return { ledgerId: ledger.identity.ledgerId, customerTraceNumber: TRACE, attempt: 1, state: 'unknown', ...change };
}

export function decisionOf(change: Partial<DecisionRecord>): DecisionRecord {
  return {
    decisionId: 'D-1',
    customerTraceNumber: TRACE,
    attempt: 1,
    action: 'resend',
    by: 'operator@example.com',
    reason: 'the provider has no such inquiry',
    providerSaid: change.answer?.kind === 'outcome' && change.answer.outcome === 'record' ? 'posted' : 'notPosted',
    decidedAt: '2026-01-02T03:04:05Z',
    ...change,
  };
}

export const SHARE: Partial<InquiryDescription> = {
  customerTraceNumber: 'SUAAAAAAAAAAAAAAAAAAAAAAAA00',
  productCode: 'SECONDUSE',
  shareId: 'S1',
  endUserCode: 'EU2',
};

export function consentOf(change: Partial<ConsentRecord> = {}): ConsentRecord {
  return {
    journeyId: 'J-1',
    shareId: 'S1',
    applicantId: '01',
    consentId: 'C-1',
    decision: 'granted',
    decidedAt: '2026-01-02T03:04:05Z',
    secondaryUser: { endUserCode: 'EU2' },
    receivedAt: '2026-01-02T03:04:06Z',
    ...change,
  };
}

/** Records the grants and claims an attempt, as a run does. */
export async function claimAs(ledger: Ledger, change: ClaimChange = {}): Promise<ClaimVerdict> {
  const request = claimOf(ledger, change);
  const consents = request.consents as readonly ConsentRecord[];
  if (consents.length > 0) await ledger.recordConsents(request.ledgerId, consents);
  return ledger.claim(request);
}

/** Claims an attempt and records its outcome. */
export async function attempted(
  ledger: Ledger,
  change: ClaimChange,
  outcome: Partial<OutcomeRecord>,
): Promise<ClaimVerdict> {
  const request = claimOf(ledger, change);
  const verdict = await claimAs(ledger, change);
  const { customerTraceNumber } = request.inquiry;
  await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, attempt: request.attempt, ...outcome }));
  return verdict;
}

/** Returns the latest attempt's state from a claim's verdict, or the kind of the verdict. */
export function latestState(verdict: ClaimVerdict): string {
  return verdict.kind === 'latest' ? verdict.latest.state : verdict.kind;
}

const READER = { by: 'tests@example.com', via: 'ledger' } as const;

/** Reads the newest report of a run and product, or that of one inquiry. */
export function readSealedReport(
  ledger: Ledger,
  runKey: string,
  productCode: ProductCode,
  customerTraceNumber?: string,
) {
  return ledger.readReport({ runKey, productCode, customerTraceNumber }, READER);
}

/** Reads the newest list of changes of a run. */
export function readSealedChanges(ledger: Ledger, runKey: string) {
  return ledger.readChanges(runKey, READER);
}
