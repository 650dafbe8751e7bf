/**
 * Shape checks of messages, by hand and synchronous, since an update validator may not wait and zod stays out of
 * the bundle. Each returns the reason for which a message is refused (a path and a rule, never a value), or `null`.
 * The client and the activities hold the full tables of the interface.
 */

import { COMPACT_JWS, MAX_PROOF_LENGTH } from '../../base/compact-jws.ts';
import { parseDurationMs } from '../../base/durations.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { isRecord } from '../../base/is-record.ts';
import { HOLD_ACTIONS } from '../../model/failure-types.ts';
import { MAX_ID_LENGTH, MAX_SHARE_ID_LENGTH, opaqueIdProblem } from '../../model/opaque-id.ts';
import { consentOwnerProblem, type ID_NAMES, ownerOf, type RunKind } from '../../model/owner-id.ts';
import { STAGES } from '../../model/products.ts';
import { PROVIDER_SAID } from '../../model/provider-word.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';
import { isUndecodable, undecodableRule } from '../../model/undecodable.ts';

type Check = (value: unknown, path: string) => string | null;
type Fields = Record<string, { check: Check; optional?: true }>;

const CONTROL_CHARACTERS = /\p{Cc}/u;

function text(maxLength: number): Check {
  return (value, path) =>
    typeof value === 'string' && value.trim() !== '' && value.length <= maxLength && !CONTROL_CHARACTERS.test(value)
      ? null
      : `${path} must be text of 1 to ${maxLength} characters`;
}

function opaqueId(maxLength: number): Check {
  return (value, path) => {
    const problem = typeof value === 'string' ? opaqueIdProblem(value, maxLength) : 'must be text';
    return problem === null ? null : `${path} ${problem}`;
  };
}

function oneOf(...values: readonly string[]): Check {
  return (value, path) =>
    typeof value === 'string' && values.includes(value) ? null : `${path} must be one of ${values.join(', ')}`;
}

const instant: Check = (value, path) =>
  typeof value === 'string' && parseInstantMs(value) !== null
    ? null
    : `${path} must be an RFC 3339 instant with offset`;

const duration: Check = (value, path) =>
  typeof value === 'string' && parseDurationMs(value) !== null
    ? null
    : `${path} must be an ISO 8601 duration in days and time, such as P30D`;

const compactJws: Check = (value, path) =>
  typeof value === 'string' && value.length <= MAX_PROOF_LENGTH && COMPACT_JWS.test(value)
    ? null
    : `${path} must be a compact JWS of at most ${MAX_PROOF_LENGTH} characters`;

const attemptNumber: Check = (value, path) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 ? null : `${path} must be a whole number from 1`;

/** Checks only that these are applicants; an activity holds them against the interface's table. */
const applicants: Check = (value, path) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isRecord(one))
    ? null
    : `${path} must be a list of applicants`;

function object(fields: Fields): Check {
  return (value, path) => {
    if (isUndecodable(value)) return undecodableRule(value);
    if (!isRecord(value)) return `${path || '/'} must be an object`;
    if (Object.keys(value).some((key) => !Object.hasOwn(fields, key))) {
      return `${path || '/'} has an unknown field; known are ${Object.keys(fields).join(', ')}`;
    }
    for (const [name, { check, optional }] of Object.entries(fields)) {
      if (value[name] === undefined) {
        if (!optional) return `${path}/${name} is required`;
        continue;
      }
      const reason = check(value[name], `${path}/${name}`);
      if (reason) return reason;
    }
    return null;
  };
}

function listOf(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value) || value.length === 0) return `${path} must be a list that is not empty`;
    for (const [index, item] of value.entries()) {
      const reason = check(item, `${path}/${index}`);
      if (reason) return reason;
    }
    return null;
  };
}

/** The member in which a message names the run that it is for. */
export type AddressName = (typeof ID_NAMES)[RunKind];

const runId = { check: opaqueId(MAX_ID_LENGTH) };
const journeyId = runId;
const shareId = { check: opaqueId(MAX_SHARE_ID_LENGTH) };
const optional = (check: Check) => ({ check, optional: true as const });

const secondaryUserFields: Fields = { endUserCode: optional(text(16)), endUser: optional(text(30)) };
const secondaryUser: Check = (value, path) =>
  object(secondaryUserFields)(value, path) ??
  (isRecord(value) && value.endUserCode === undefined && value.endUser === undefined
    ? `${path} must name endUserCode, endUser or both`
    : null);

const share: Check = (value, path) =>
  object({
    ...secondaryUserFields,
    shareId,
    permissiblePurposeCode: optional(text(2)),
    reportOf: optional(oneOf(...STAGES)),
    awaitConsentFor: optional(duration),
    consentValidFor: optional(duration),
  })(value, path) ??
  (isRecord(value) && value.endUserCode === undefined && value.endUser === undefined
    ? `${path} must name endUserCode, endUser or both`
    : null);

const consentOwner: Check = (value, path) => {
  const problem = typeof value === 'string' ? consentOwnerProblem(value) : 'must be text';
  return problem === null ? null : `${path} ${problem}`;
};

const isTrue: Check = (value, path) => (value === true ? null : `${path} must be true where it is given`);

const consentFields: Fields = {
  journeyId: { check: consentOwner },
  shareId,
  applicantId: { check: text(2) },
  consentId: { check: opaqueId(MAX_ID_LENGTH) },
  decision: { check: oneOf('granted', 'denied', 'revoked') },
  decidedAt: { check: instant },
  decidedNow: optional(isTrue),
  secondaryUser: { check: secondaryUser },
  evidence: optional(
    object({
      method: { check: text(40) },
      textVersion: { check: text(40) },
      capturedAt: { check: instant },
      reference: { check: text(100) },
    }),
  ),
  proof: optional(compactJws),
};

export function consentProblem(value: unknown): string | null {
  const reason = object(consentFields)(value, '');
  if (reason) return reason;
  const message = value as { journeyId: string; shareId: string; decision: string; evidence?: unknown };
  const owner = ownerOf(message.journeyId);
  if (owner.kind === 'share' && owner.id !== message.shareId) return '/shareId must be the one that /journeyId names';
  return message.decision === 'granted' && message.evidence === undefined ? '/evidence is required for a grant' : null;
}

const who = { by: { check: text(100) }, reason: { check: text(500) } };
const occurrence: Check = (value, path) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 2 && value <= MAX_ORDINAL + 1
    ? null
    : `${path} must be a whole number from 2 to ${MAX_ORDINAL + 1}`;

const passGate = object({
  journeyId,
  to: { check: oneOf(...STAGES) },
  applicants: optional(applicants),
  acceptAge: optional(isTrue),
  by: optional(who.by.check),
  reason: optional(who.reason.check),
});

const repeatStage = object({
  journeyId,
  repeat: { check: oneOf(...STAGES) },
  occurrence: { check: occurrence },
  ...who,
  applicants: optional(applicants),
  proof: optional(compactJws),
});

export function advanceProblem(value: unknown): string | null {
  const isRepeat = isRecord(value) && !isUndecodable(value) && value.repeat !== undefined;
  const reason = isRepeat ? repeatStage(value, '') : passGate(value, '');
  if (reason || isRepeat) return reason;
  const message = value as { acceptAge?: true; by?: string; reason?: string };
  const isSigned = message.by !== undefined && message.reason !== undefined;
  if (message.acceptAge && !isSigned) return '/by and /reason are required with acceptAge';
  if (!message.acceptAge && (message.by !== undefined || message.reason !== undefined)) {
    return '/by and /reason belong to acceptAge';
  }
  return null;
}

export const withdrawProblem = (value: unknown, addressName: AddressName = 'journeyId'): string | null =>
  object({ [addressName]: runId, ...who })(value, '');

export const requestShareProblem = (value: unknown): string | null =>
  object({ journeyId, share: { check: share } })(value, '');

const reference = object({
  reportReferenceNumber: { check: text(30) },
  requestedAt: { check: instant },
  applicants: { check: listOf(object({ applicantId: { check: text(2) }, consumerId: { check: text(16) } })) },
});

const resolveFields: Fields = {
  decisionId: { check: opaqueId(MAX_ID_LENGTH) },
  customerTraceNumber: { check: text(30) },
  attempt: { check: attemptNumber },
  action: { check: oneOf(...HOLD_ACTIONS) },
  by: { check: text(100) },
  reason: { check: text(500) },
  providerSaid: { check: oneOf(...PROVIDER_SAID) },
  outcome: optional(oneOf('record', 'noRecord', 'noReport')),
  reference: optional(reference),
  confirmConsumerIds: optional(isTrue),
  applicants: optional(applicants),
  proof: optional(compactJws),
};

export function resolveInquiryProblem(value: unknown, addressName: AddressName = 'journeyId'): string | null {
  const reason = object({ [addressName]: runId, ...resolveFields })(value, '');
  if (reason) return reason;
  const message = value as {
    action: string;
    providerSaid: string;
    outcome?: string;
    reference?: { applicants: NamedConsumer[] };
    confirmConsumerIds?: true;
    applicants?: unknown;
  };
  if (message.action === 'accept') {
    if (message.outcome === undefined) return '/outcome is required for accept';
    if ((message.outcome === 'record') !== (message.reference !== undefined)) {
      return message.reference === undefined
        ? '/reference is required with a record'
        : '/reference belongs to accept with a record';
    }
    if (message.outcome === 'record' && message.providerSaid !== 'posted') {
      return '/providerSaid must be posted for accept with a record';
    }
  } else if (message.outcome !== undefined || message.reference !== undefined) {
    return '/outcome and /reference belong to accept';
  }
  if (message.confirmConsumerIds && message.reference === undefined)
    return '/confirmConsumerIds belongs to a reference';
  if (message.action === 'amend' && message.applicants === undefined) return '/applicants is required for amend';
  if (message.action !== 'amend' && message.applicants !== undefined) return '/applicants belongs to amend';
  return message.reference === undefined ? null : repeatedProblem(message.reference.applicants);
}

interface NamedConsumer {
  applicantId: string;
  consumerId: string;
}

/** Refuses two applicants with one `consumerId`: it is a typing error that would share the wrong person's report. */
function repeatedProblem(named: readonly NamedConsumer[]): string | null {
  for (const field of ['applicantId', 'consumerId'] as const) {
    const values = named.map((one) => one[field]);
    const repeated = values.findIndex((value, index) => values.indexOf(value) < index);
    if (repeated >= 0)
      return `/reference/applicants/${repeated}/${field} must differ from that of every other applicant`;
  }
  return null;
}
