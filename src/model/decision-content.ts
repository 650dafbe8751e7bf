/**
 * The content that a proof of a decision signs. It is enough to prove exactly one decision. Personal parts appear only
 * as digests. Pure. docs/journeys.md, "Decisions that can be proved".
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { omitUndefined } from '../base/defined.ts';
import { isRecord } from '../base/is-record.ts';
import type { FailsafeApplicant } from './applicant.ts';
import type { HoldAction } from './failure-types.ts';
import type { Environment, StageCode } from './products.ts';
import type { ProviderSaid } from './provider-word.ts';
import type { ReportOutcome, ReportReference } from './report-outcome.ts';

/** The content of a `resolveInquiry` to any kind of run, and of a decision that is written into the ledger. */
export interface DecisionContent {
  environment: Environment;
  decisionId: string;
  customerTraceNumber: string;
  attempt: number;
  action: HoldAction;
  by: string;
  reason: string;
  providerSaid: ProviderSaid;
  outcome?: ReportOutcome;
  confirmConsumerIds?: true;
  /** For `accept` with a reference, and for `amend` with applicants: the `contentDigest` of the personal part. */
  contentDigest?: string;
}

/** The members of a decision that its proof covers. */
export type ProvableDecision = Omit<DecisionContent, 'environment' | 'contentDigest'> & {
  reference?: ReportReference;
  applicants?: readonly FailsafeApplicant[];
};

/** The content of an `advance` with `repeat`, which makes one further inquiry. */
export interface RepeatContent {
  environment: Environment;
  journeyId: string;
  repeat: StageCode;
  occurrence: number;
  by: string;
  reason: string;
  contentDigest?: string;
}

export type ProvableRepeat = Omit<RepeatContent, 'environment' | 'contentDigest'> & {
  applicants?: readonly FailsafeApplicant[];
};

export function decisionContent(environment: Environment, decision: ProvableDecision): DecisionContent {
  const { decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid } = decision;
  const { outcome, confirmConsumerIds } = decision;
  return {
    environment,
    decisionId,
    customerTraceNumber,
    attempt,
    action,
    by,
    reason,
    providerSaid,
    ...omitUndefined({ outcome, confirmConsumerIds }),
    ...digestPersonalParts(decision),
  };
}

export function repeatContent(environment: Environment, repeated: ProvableRepeat): RepeatContent {
  const { journeyId, repeat, occurrence, by, reason } = repeated;
  return { environment, journeyId, repeat, occurrence, by, reason, ...digestPersonalParts(repeated) };
}

function digestPersonalParts({ reference, applicants }: Pick<ProvableDecision, 'reference' | 'applicants'>) {
  const isWithout = reference === undefined && applicants === undefined;
  return isWithout ? {} : { contentDigest: contentDigest({ reference, applicants }) };
}

/** SHA-256 in hex of `{ "reference": … }` or `{ "applicants": … }` as canonical JSON (RFC 8785). */
export function contentDigest(personal: object): string {
  return bytesToHex(sha256(utf8ToBytes(toCanonicalJson(personal))));
}

/**
 * Enough that two contents never match by chance. Deliberate collisions are no concern: the senders are trusted with
 * the inquiry.
 */
const HEX_DIGITS = 16;

/** The first digits of each member's SHA-256: with them a run compares a later copy, and keeps nothing personal. */
export function computeMemberDigests(message: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(message).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, bytesToHex(sha256(utf8ToBytes(toCanonicalJson(value)))).slice(0, HEX_DIGITS)]],
    ),
  );
}

/**
 * JSON without spaces and with the members of objects in order, as RFC 8785 defines it for what messages hold. Leaves out
 * `undefined` members, which Temporal drops on the way to an activity.
 */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
