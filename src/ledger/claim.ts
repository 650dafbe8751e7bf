/**
 * Fence 1 (docs/protocol.md): decides who may send. The claim table is an ordered list of rules, each of which forbids;
 * what no rule forbids may be claimed. Pure, so that a test can explore every interleaving without a database. The
 * engines only make sure that decisions about one inquiry are taken one at a time, and that each is written or lost.
 */
import type { GrantFault } from '../consent/consent-record.ts';
import type { DecisionAction } from '../model/failure-types.ts';
import { type Answer, type AttemptState, isKnownNotPosted } from '../model/inquiry.ts';

export interface KnownAttempt {
  attempt: number;
  /** The written state; `effectiveState` gives its present meaning. */
  state: AttemptState;
  /** How long its answer may still come, by the database's clock; zero or less when that time is over. */
  answerInMs: number;
  /** How long its request may still arrive, for an unknown outcome. Absent, zero or less: it cannot arrive any more. */
  resendInMs?: number;
  /** The kind of the answer, where one came. */
  answerKind?: Answer['kind'];
  /** It was never claimed: a look-up has closed it, and its state is `notSent`. */
  closed?: true;
  /** An answer arrived after the attempt was given up: it was posted. `state` keeps its judged value. */
  answeredLate?: true;
}

export interface KnownDecision {
  decisionId: string;
  action: DecisionAction;
  attempt: number;
  /** For a `resend` of a claimed attempt: the one attempt that it permits. Unspent until that attempt exists. */
  permitsAttempt?: number;
}

/** Everything that the ledger knows of one trace number, read under the lock under which outcomes are written. */
export interface KnownInquiry {
  ledgerId: string;
  /** The lowest program version that may write: older programs do not keep a fence of this ledger. */
  oldestWriter: number;
  /** `null` until something was claimed: a decision may come before any claim. */
  digest: string | null;
  /** The ledger is an older copy of itself, which no operator has accepted. */
  isRestored?: boolean;
  /** A person has paused the inquiries of this profile, or of all. */
  isPaused?: boolean;
  /** The run was withdrawn: nothing more is ever sent for it. */
  isWithdrawn?: boolean;
  abandoned: boolean;
  /** Absent without a disposal. After its begin nothing is sent; after its end no answer is left. */
  disposal?: 'begun' | 'done';
  /** The other number under which this inquiry was claimed, where its customer was changed. */
  otherNumber?: string;
  /** In ascending order. */
  attempts: readonly KnownAttempt[];
  decisions: readonly KnownDecision[];
  /** For a share: what the ledger has about sharing its report, compared with the claim's grants. */
  share?: KnownShare;
}

/** The facts that decide a share's claim, read under the lock that every writer of consents takes. */
export interface KnownShare {
  /** The platform has taken it back: it is never sent again. */
  isWithdrawn?: boolean;
  /** The report was disposed of, or is about to be, or is under a legal hold. */
  reportIsGone: boolean;
  /** The worth of the claim's grants; `missing` for an applicant without a grant for this share. */
  grants: readonly { worth: GrantFault | 'stands' }[];
}

/** A claim: attempt n of a request with this digest, by a run that started with this ledger. */
export interface ClaimFacts {
  ledgerId: string;
  /** The version of the tables that the claiming program knows. */
  writer: number;
  digest: string;
  attempt: number;
}

export type ClaimDecision =
  /** Write the row as `sending`; `permittedBy` is the decision that this spends. */
  | { kind: 'claim'; attempt: number; permittedBy?: string }
  /** Send nothing; answer with the state of the latest attempt. */
  | { kind: 'latest' }
  | { kind: 'requestDiffers' }
  /** For a share: its authorization is missing or no longer valid. */
  | { kind: 'notPermitted' }
  /** The run ends as withdrawn, also where it does not know of that. */
  | { kind: 'withdrawn' }
  | { kind: 'anotherNumber'; customerTraceNumber: string }
  | { kind: 'ledgerChanged' }
  | { kind: 'ledgerRestored' }
  /** A newer program must make the claim. */
  | { kind: 'writerTooOld' }
  /** A person must end the pause first. */
  | { kind: 'paused' };

export interface ClaimRule {
  name: string;
  /** The decision where the rule applies; `null` where it does not. */
  forbids(known: KnownInquiry, claim: ClaimFacts): Exclude<ClaimDecision, { kind: 'claim' }> | null;
}

/** States that only a person's decision can end. */
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

/**
 * For shares alone, after all rules about attempts: an attempt that was made is reported even where its permission has ended
 * since.
 */
export const SHARE_RULES: readonly ClaimRule[] = [
  { name: 'shareWithdrawn', forbids: ({ share }) => (share?.isWithdrawn ? NOT_PERMITTED : null) },
  { name: 'reportGone', forbids: ({ share }) => (share?.reportIsGone ? NOT_PERMITTED : null) },
  {
    name: 'consentMissing',
    forbids: ({ share }) => (share && lacksGrant(share) ? NOT_PERMITTED : null),
  },
  { name: 'consentRefused', forbids: ({ share }) => (share && has(share, 'refused') ? NOT_PERMITTED : null) },
  { name: 'consentTooOld', forbids: ({ share }) => (share && has(share, 'tooOld') ? NOT_PERMITTED : null) },
  { name: 'consentSpent', forbids: ({ share }) => (share && has(share, 'spent') ? NOT_PERMITTED : null) },
];

/** The order matters: whether request and ledger are the right ones is decided before anything about an attempt. */
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
      claim.attempt === 1 || findAttempt(known, claim.attempt - 1) ? null : { kind: 'ledgerChanged' },
  },
  {
    name: 'madeAlready',
    forbids: (known, claim) => ((findLatest(known)?.attempt ?? 0) >= claim.attempt ? { kind: 'latest' } : null),
  },
  {
    name: 'anotherNumber',
    forbids: (known, claim) =>
      known.otherNumber === undefined || wasClaimed(known) || findResendToSpend(known, claim.attempt)
        ? null
        : { kind: 'anotherNumber', customerTraceNumber: known.otherNumber },
  },
  {
    name: 'inFlight',
    forbids: (known) => (latestStanding(known) === 'sending' ? { kind: 'latest' } : null),
  },
  {
    name: 'settled',
    forbids: (known) =>
      known.attempts.some(isAccepted) || isIn(SETTLED_STATES, latestStanding(known)) ? { kind: 'latest' } : null,
  },
  {
    name: 'needsDecision',
    forbids: (known, claim) =>
      isIn(HELD_STATES, latestStanding(known)) && !findResend(known, claim.attempt) ? { kind: 'latest' } : null,
  },
  {
    name: 'answeredLate',
    forbids: (known) => (findLateAnswer(known) ? { kind: 'latest' } : null),
  },
  {
    name: 'withdrawn',
    forbids: (known) => (known.isWithdrawn ? { kind: 'withdrawn' } : null),
  },
  ...SHARE_RULES,
  // This rule is last: the ledger reports an attempt that was made already even during a pause.
  {
    name: 'paused',
    forbids: (known) => (known.isPaused ? { kind: 'paused' } : null),
  },
];

/** Decides a claim. Tests leave out single `rules` to show what each rule prevents. */
export function decideClaim(
  known: KnownInquiry,
  claim: ClaimFacts,
  rules: readonly ClaimRule[] = CLAIM_RULES,
): ClaimDecision {
  for (const rule of rules) {
    const verdict = rule.forbids(known, claim);
    if (verdict) return verdict;
  }
  const resend = findResendToSpend(known, claim.attempt);
  return { kind: 'claim', attempt: claim.attempt, ...(resend ? { permittedBy: resend.decisionId } : {}) };
}

/** The present state of an attempt: a `sending` whose time is over is `unknown`. */
export function effectiveState(attempt: KnownAttempt): AttemptState {
  return isOverdue(attempt) ? 'unknown' : attempt.state;
}

/** Written as `sending`, although its answer can no longer come in time. */
export function isOverdue(attempt: KnownAttempt): boolean {
  return attempt.state === 'sending' && attempt.answerInMs <= 0;
}

export function findLatest(known: KnownInquiry): KnownAttempt | undefined {
  return known.attempts.at(-1);
}

/**
 * The attempt that decides the state of the inquiry: an accepted one, else the latest. If another attempt may follow
 * the latest, an earlier one that was answered late has priority.
 */
export function effectiveAttempt(known: KnownInquiry): KnownAttempt | undefined {
  return known.attempts.find(isAccepted) ?? lateToJudge(known) ?? findLatest(known);
}

/** The attempt that was answered late and that a person must judge before another one is made; `undefined` without one. */
export function lateToJudge(known: KnownInquiry): KnownAttempt | undefined {
  const latest = findLatest(known);
  if (!latest || known.attempts.some(isAccepted)) return undefined;
  const state = effectiveState(latest);
  const mayBeFollowed =
    isKnownNotPosted(state) || (HELD_STATES.includes(state) && findResend(known, latest.attempt + 1) !== undefined);
  return mayBeFollowed ? findLateAnswer(known) : undefined;
}

function findLateAnswer(known: KnownInquiry): KnownAttempt | undefined {
  return known.attempts.findLast(({ answeredLate }) => answeredLate);
}

function isAccepted({ state }: KnownAttempt): boolean {
  return state === 'accepted';
}

export function findAttempt(known: KnownInquiry, attempt: number): KnownAttempt | undefined {
  return known.attempts.find((candidate) => candidate.attempt === attempt);
}

/** The resend that permits exactly this attempt, spent or not. */
export function findResend(known: KnownInquiry, attempt: number): KnownDecision | undefined {
  return known.decisions.find((decision) => decision.permitsAttempt === attempt);
}

/**
 * The resend that attempt n spends: its own, or that of the closed attempts just before it, under which nothing was
 * sent.
 */
export function findResendToSpend(known: KnownInquiry, attempt: number): KnownDecision | undefined {
  const resend = findResend(known, attempt);
  return resend || !findAttempt(known, attempt - 1)?.closed ? resend : findResendToSpend(known, attempt - 1);
}

/** Whether any attempt was claimed; one that was closed was not. */
export function wasClaimed(known: KnownInquiry): boolean {
  return known.attempts.some(({ closed }) => !closed);
}

function lacksGrant(share: KnownShare): boolean {
  return share.grants.length === 0 || has(share, 'missing') || has(share, 'otherPerson');
}

function has({ grants }: KnownShare, fault: GrantFault): boolean {
  return grants.some(({ worth }) => worth === fault);
}

function latestStanding(known: KnownInquiry): AttemptState | undefined {
  const latest = findLatest(known);
  return latest && effectiveState(latest);
}

function isIn(states: readonly AttemptState[], state: AttemptState | undefined): boolean {
  return state !== undefined && states.includes(state);
}
