/** Describes the ledger's records as lines of a run's story. Nothing personal. Pure. */

import { omitUndefined } from '../base/defined.ts';
import type {
  AuditedAttempt,
  AuditedDecision,
  AuditedDisposal,
  ListedConsent,
  Posted,
} from '../ledger/audit/audited.ts';
import type { ClosedHow, OperatorTask } from '../ledger/holds/holds.ts';
import { FAILURES, isFailureType } from '../model/failure-types.ts';
import { describeSecondaryUser } from '../model/stage-end-user.ts';
import { describeReason, formatInquiryName, listAnswerParts } from './holds.ts';
import { AS_TEXT } from './writer.ts';

const POSTED_WORDS: Record<Posted, string> = { yes: 'posted', no: 'not posted', unknown: 'perhaps posted' };

export interface RecordLine {
  at: string;
  text: string;
  by?: string;
  reason?: string;
  customerTraceNumber?: string;
  attempt?: number;
}

/** Words for an operator's actions on a whole run; every other decision concerns a part of it. */
const RUN_WORDS: Partial<Record<AuditedDecision['action'], string>> = {
  withdraw: 'It was withdrawn: nothing more is sent.',
  pause: 'It was paused.',
  resume: 'It was resumed.',
};

export function describeDecision(decision: AuditedDecision): RecordLine {
  const { recordedAt: at, by, reason, productCode, shareId, customerTraceNumber, attempt, until } = decision;
  const { failureType, providerSaid, provenBy } = decision;
  const trace = customerTraceNumber && `${customerTraceNumber}${attempt === undefined ? '' : ` attempt ${attempt}`}`;
  const parts = [
    `Decision ${decision.decisionId}: ${decision.action}`,
    productCode,
    shareId && `share ${shareId}`,
    trace,
    until && `until ${until}`,
    failureType && `held as ${failureType}`,
    providerSaid && `provider said ${providerSaid}`,
    provenBy && `proven by key ${provenBy}`,
  ].filter((part) => part !== undefined);
  const isOfShare = decision.action === 'withdrawShare';
  const words = isOfShare ? `Share ${shareId} was taken back before it was sent.` : RUN_WORDS[decision.action];
  const text = words ?? `${parts.join(', ')}.`;
  return { at, text, by, reason, ...omitUndefined({ customerTraceNumber, attempt }) };
}

export function describeConsent(consent: ListedConsent): RecordLine {
  const { unmatched } = consent;
  const news = unmatched === undefined ? '' : ` It matches no ${unmatched} that the ledger knows.`;
  return {
    at: consent.recordedAt,
    text: `Consent ${consent.decision} by applicant ${consent.applicantId}: share ${consent.shareId} with ${describeSecondaryUser(consent)}, ${consent.consentId}.${news}`,
  };
}

export function describeAttempt(audited: AuditedAttempt): RecordLine {
  const { claimedAt: at, customerTraceNumber, attempt } = audited;
  const codes = listAnswerParts(audited, AS_TEXT);
  const answered = codes.length === 0 ? '' : `, ${codes.join(', ')}`;
  const text = `${formatInquiryName(audited)}, attempt ${attempt}: ${audited.outcome} (${POSTED_WORDS[audited.posted]})${answered}.`;
  return { at, text, customerTraceNumber, attempt };
}

/** Returns `undefined` if no answer came late. */
export function describeLateAnswer(audited: AuditedAttempt): RecordLine | undefined {
  const { customerTraceNumber, attempt, late } = audited;
  if (!late) return undefined;
  const text = `${formatInquiryName(audited)}, attempt ${attempt}, was answered late: ${late.outcome ?? 'no outcome'}.`;
  return { at: late.at, text, customerTraceNumber, attempt };
}

const RETENTION_WORDS: Record<AuditedDisposal['kind'], string> = {
  disposalBegun: 'Its disposal was begun.',
  historyDeleted: 'A history was deleted from Temporal.',
  disposed: 'It was disposed of.',
  legalHoldSet: 'It came under a legal hold.',
  legalHoldReleased: 'Its legal hold was released.',
};

export function describeDisposal({ recordedAt: at, kind, matter, by, reason }: AuditedDisposal): RecordLine {
  return { at, text: `${RETENTION_WORDS[kind]}${matter === undefined ? '' : ` Matter: ${matter}.`}`, by, reason };
}

type NamedTask = Pick<OperatorTask, 'kind' | 'reason' | 'productCode' | 'shareId'>;

export function describeTask({ kind, reason, productCode, shareId }: NamedTask): string {
  const about = productCode === undefined ? '' : ` ${formatInquiryName({ productCode, shareId })}:`;
  if (isFailureType(reason)) return `On hold:${about} ${reason}; ${FAILURES[reason].happened}`;
  return `${kind === 'held' ? 'On hold' : 'Needs a look'}:${about} ${reason}. ${describeReason(reason).meaning}`;
}

/** `undefined` where a decision closed the task: the line of that decision says so. */
const ENDED: Record<ClosedHow, string | undefined> = {
  decided: undefined,
  overtaken: undefined,
  seen: undefined,
  claimed: 'the next attempt was made',
  replaced: 'it is on hold for another reason',
  ended: 'its cause is over, or its run has ended',
  disposed: 'it was disposed of',
};

export function describeTaskEnd(row: NamedTask, how: ClosedHow): string | undefined {
  const words = ENDED[how];
  const about = row.productCode === undefined ? '' : `${formatInquiryName({ ...row, productCode: row.productCode })}: `;
  return words === undefined ? undefined : `No longer waits: ${about}${row.reason}; ${words}.`;
}
