/**
 * Fence 1 (docs/protocol.md): who may send. The claim table as an ordered list of rules, each of which forbids;
 * what no rule forbids may be claimed. Pure, so that every interleaving of it can be explored without a database:
 * the engines only see to it that one decision at a time is taken about an inquiry, and that it is written or lost.
 */
import type { GrantFault } from '../consent/consent-record.ts';
import type { DecisionAction } from '../model/failure-types.ts';
import type { Answer, AttemptState } from '../model/inquiry.ts';

/** One attempt as the ledger has it. */
export interface KnownAttempt {
  attempt: number;
  /** As written; `standing` says what it means by now. */
  state: AttemptState;
  /** How long its answer may still come, by the database's clock; zero or less when that time is over. */
  answerInMs: number;
  /** How long its request may still arrive where its outcome is unknown. Absent, zero or less: no more. */
  resendInMs?: number;
  /** Of the answer that came, where one did. */
  answerKind?: Answer['kind'];
  /** It was never claimed: a look-up has closed it, and it stands as `notSent`. */
  closed?: true;
}

/** A decision on the inquiry that the ledger has. */
export interface KnownDecision {
  decisionId: string;
  action: DecisionAction;
  attempt: number;
  /** With a `resend` of a claimed attempt: the one attempt that it permits. Unspent until that attempt is there. */
  permitsAttempt?: number;
}

/** Everything the ledger knows of one trace number, read under the lock that the outcome is written under. */
export interface KnownInquiry {
  ledgerId: string;
  /** Below which version no program writes any more: the ledger has a fence that it would not keep. */
  oldestWriter: number;
  /** `null` until something was claimed: a decision may come before any claim. */
  digest: string | null;
  /** It is an older copy of itself, which nobody has accepted. */
  isRestored?: boolean;
  abandoned: boolean;
  /** Absent where nobody disposes of it. Once that was begun nothing is sent; when it is done no answer is left. */
  disposal?: 'begun' | 'done';
  /** The number under which this very inquiry was claimed, where that is another one: the customer was changed. */
  otherNumber?: string;
  /** In ascending order. */
  attempts: readonly KnownAttempt[];
  decisions: readonly KnownDecision[];
  /** Of a share: what the ledger has about sharing its report, held against the claim's grants. */
  share?: KnownShare;
}

/** What a share's claim goes by, read under the lock that every writer of consents takes. */
export interface KnownShare {
  /** The report was disposed of, or is about to be, or is under a legal hold. */
  reportIsGone: boolean;
  /** What the claim's grants are worth; `missing` for an applicant who has none that is for this share. */
  grants: readonly { worth: GrantFault | 'stands' }[];
}

/** What is claimed: attempt n of a request with this digest, by a run that started with this ledger. */
export interface ClaimFacts {
  ledgerId: string;
  /** Of the program that claims: the version of the tables that it knows. */
  writer: number;
  digest: string;
  attempt: number;
}

export type ClaimDecision =
  /** Write the row as `sending`; `permittedBy` is the decision that this spends. */
  | { kind: 'claim'; attempt: number; permittedBy?: string }
  /** Send nothing; answer how the latest attempt stands. */
  | { kind: 'latest' }
  | { kind: 'requestDiffers' }
  /** Of a share: what permits it is not there, or not any more. */
  | { kind: 'notPermitted' }
  | { kind: 'anotherNumber'; customerTraceNumber: string }
  | { kind: 'ledgerChanged' }
  | { kind: 'ledgerRestored' }
  /** A newer program has to make the claim. */
  | { kind: 'writerTooOld' };

export interface ClaimRule {
  name: string;
  /** What follows where the rule applies, `null` where it does not. */
  forbids(known: KnownInquiry, claim: ClaimFacts): Exclude<ClaimDecision, { kind: 'claim' }> | null;
}

/** States that only a person's decision leads out of. */
export const HELD_STATES: readonly AttemptState[] = [
  'unknown',
  'refused',
  'notEntitled',
  'credentialsRefused',
  'untrusted',
];
/** States that already are the inquiry's outcome. */
const SETTLED_STATES: readonly AttemptState[] = ['answered', 'accepted', 'abandoned'];

const NOT_PERMITTED = { kind: 'notPermitted' } as const;

/** Only of shares, and after everything else: an attempt that was made is told of, whatever became of its permission. */
export const SHARE_RULES: readonly ClaimRule[] = [
  { name: 'reportGone', forbids: ({ share }) => (share?.reportIsGone ? NOT_PERMITTED : null) },
  {
    name: 'consentMissing',
    forbids: ({ share }) => (share && (share.grants.length === 0 || has(share, 'missing')) ? NOT_PERMITTED : null),
  },
  { name: 'consentRefused', forbids: ({ share }) => (share && has(share, 'refused') ? NOT_PERMITTED : null) },
  { name: 'consentTooOld', forbids: ({ share }) => (share && has(share, 'tooOld') ? NOT_PERMITTED : null) },
  { name: 'consentSpent', forbids: ({ share }) => (share && has(share, 'spent') ? NOT_PERMITTED : null) },
];

/** The order matters: whose request and whose ledger this is comes before anything is said about an attempt. */
export const CLAIM_RULES: readonly ClaimRule[] = [
  {
    name: 'anotherLedger',
    forbids: (known, claim) => (known.ledgerId === claim.ledgerId ? null : { kind: 'ledgerChanged' }),
  },
  {
    name: 'olderWriter',
    forbids: (known, claim) => (claim.writer < known.oldestWriter ? { kind: 'writerTooOld' } : null),
  },
  {
    name: 'restored',
    forbids: (known) => (known.isRestored ? { kind: 'ledgerRestored' } : null),
  },
  {
    name: 'anotherRequest',
    forbids: (known, claim) =>
      known.digest === null || known.digest === claim.digest ? null : { kind: 'requestDiffers' },
  },
  {
    name: 'abandoned',
    forbids: (known) => (known.abandoned ? { kind: 'latest' } : null),
  },
  {
    name: 'disposedOf',
    forbids: (known) => (known.disposal ? { kind: 'latest' } : null),
  },
  {
    name: 'previousMissing',
    forbids: (known, claim) =>
      claim.attempt === 1 || attemptOf(known, claim.attempt - 1) ? null : { kind: 'ledgerChanged' },
  },
  {
    name: 'madeAlready',
    forbids: (known, claim) => ((latestOf(known)?.attempt ?? 0) >= claim.attempt ? { kind: 'latest' } : null),
  },
  {
    name: 'anotherNumber',
    forbids: (known, claim) =>
      known.otherNumber === undefined || wasClaimed(known) || permitToSpend(known, claim.attempt)
        ? null
        : { kind: 'anotherNumber', customerTraceNumber: known.otherNumber },
  },
  {
    name: 'inFlight',
    forbids: (known) => (latestStanding(known) === 'sending' ? { kind: 'latest' } : null),
  },
  {
    name: 'settled',
    forbids: (known) => (isOneOf(SETTLED_STATES, latestStanding(known)) ? { kind: 'latest' } : null),
  },
  {
    name: 'needsDecision',
    forbids: (known, claim) =>
      isOneOf(HELD_STATES, latestStanding(known)) && !permitFor(known, claim.attempt) ? { kind: 'latest' } : null,
  },
  ...SHARE_RULES,
];

/** What becomes of a claim. `rules` is there to be thinned out by tests that show what each rule is for. */
export function decideClaim(
  known: KnownInquiry,
  claim: ClaimFacts,
  rules: readonly ClaimRule[] = CLAIM_RULES,
): ClaimDecision {
  for (const rule of rules) {
    const verdict = rule.forbids(known, claim);
    if (verdict) return verdict;
  }
  const permit = permitToSpend(known, claim.attempt);
  return { kind: 'claim', attempt: claim.attempt, ...(permit ? { permittedBy: permit.decisionId } : {}) };
}

/** A trace number of a stage, pull, share or row under which something was claimed. */
export interface ClaimedNumber {
  customerTraceNumber: string;
  customerId: string;
  ordinal: number;
  /** 0 for the first customer; each one that a decision permits beside it has the next. */
  permittedRepeat: number;
}

/**
 * Which repeat a customer's numbers of one stage take, and the number that is there already and not this customer's.
 * Two inquiries that are one but for their customer would take the same key: the second needs a decision.
 */
export function repeatOf(
  numbers: readonly ClaimedNumber[],
  { customerTraceNumber, customerId, ordinal }: Pick<ClaimedNumber, 'customerTraceNumber' | 'customerId' | 'ordinal'>,
): { permittedRepeat: number; otherNumber?: string } {
  const others = numbers.filter((one) => one.customerTraceNumber !== customerTraceNumber);
  const taken = others.findLast((one) => one.ordinal === ordinal);
  const own = numbers.find((one) => one.customerId === customerId);
  if (own && taken?.permittedRepeat !== own.permittedRepeat) return { permittedRepeat: own.permittedRepeat };
  const other = taken ?? others.at(-1);
  const next = Math.max(-1, ...others.map((one) => one.permittedRepeat)) + 1;
  return { permittedRepeat: next, ...(other ? { otherNumber: other.customerTraceNumber } : {}) };
}

/** What an attempt means by now: a `sending` whose time is over is `unknown`. */
export function standing(attempt: KnownAttempt): AttemptState {
  return isOverdue(attempt) ? 'unknown' : attempt.state;
}

/** Written as `sending`, although its answer can no longer come in time. */
export function isOverdue(attempt: KnownAttempt): boolean {
  return attempt.state === 'sending' && attempt.answerInMs <= 0;
}

export function latestOf(known: KnownInquiry): KnownAttempt | undefined {
  return known.attempts.at(-1);
}

export function attemptOf(known: KnownInquiry, attempt: number): KnownAttempt | undefined {
  return known.attempts.find((candidate) => candidate.attempt === attempt);
}

/** The resend that permits exactly this attempt, spent or not. */
export function permitFor(known: KnownInquiry, attempt: number): KnownDecision | undefined {
  return known.decisions.find((decision) => decision.permitsAttempt === attempt);
}

/** The resend that attempt n spends: its own, or that of the closed attempts just before it, under which nothing was sent. */
export function permitToSpend(known: KnownInquiry, attempt: number): KnownDecision | undefined {
  const permit = permitFor(known, attempt);
  return permit || !attemptOf(known, attempt - 1)?.closed ? permit : permitToSpend(known, attempt - 1);
}

/** Whether any attempt was claimed; one that was closed was not. */
export function wasClaimed(known: KnownInquiry): boolean {
  return known.attempts.some(({ closed }) => !closed);
}

function has({ grants }: KnownShare, fault: GrantFault): boolean {
  return grants.some(({ worth }) => worth === fault);
}

function latestStanding(known: KnownInquiry): AttemptState | undefined {
  const latest = latestOf(known);
  return latest && standing(latest);
}

function isOneOf(states: readonly AttemptState[], state: AttemptState | undefined): boolean {
  return state !== undefined && states.includes(state);
}
