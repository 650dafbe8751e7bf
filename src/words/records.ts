/** What the ledger's records say, in words: for the command line's lists and for the story of a run. Nothing personal. Pure. */

import type { AuditedAttempt, Posted } from '../ledger/inquiry-audit.ts';
import type { AuditedConsent, AuditedDecision, AuditedDisposal } from '../ledger/record-audit.ts';
import type { WorkEnd, WorkRow } from '../ledger/work.ts';
import { isFailureType } from '../model/failure-types.ts';
import type { ApplicantOutcome } from '../model/report-outcome.ts';
import { nameOfUser } from '../model/secondary-user.ts';
import { ATTENTION_GUIDE, HOLD_GUIDE, inquiryWords } from './holds.ts';

export const POSTED_WORDS: Record<Posted, string> = { yes: 'posted', no: 'not posted', unknown: 'not known' };

/** The codes, whose outcomes differ, and the number of an answer without a record. */
export function answerParts({
  returnCode,
  returnReasonCode,
  applicantOutcomes = [],
  noRecordReference,
}: Pick<AuditedAttempt, 'returnCode' | 'returnReasonCode' | 'applicantOutcomes' | 'noRecordReference'>): string[] {
  return [
    ...(returnCode === undefined ? [] : [`return code ${returnCode}`]),
    ...(returnReasonCode === undefined ? [] : [`reason ${returnReasonCode}`]),
    ...(applicantOutcomes.length > 1 ? applicantOutcomes.map(outcomeText) : []),
    ...(noRecordReference === undefined ? [] : [`reference ${noRecordReference}`]),
  ];
}

export function outcomeText({ applicantId, outcome, returnCode, returnReasonCode }: ApplicantOutcome): string {
  const codes = [returnCode, returnReasonCode].filter((code) => code !== undefined);
  return `${applicantId} ${outcome}${codes.length === 0 ? '' : ` (${codes.join(' ')})`}`;
}

/** What a decision is about, beside the run. */
export function decisionSubject(one: AuditedDecision): string[] {
  const { productCode, shareId, customerTraceNumber, attempt, until } = one;
  return [
    ...(productCode === undefined ? [] : [productCode]),
    ...(shareId === undefined ? [] : [`share ${shareId}`]),
    ...(customerTraceNumber === undefined
      ? []
      : [`${customerTraceNumber}${attempt === undefined ? '' : ` attempt ${attempt}`}`]),
    ...(until === undefined ? [] : [`until ${until}`]),
  ];
}

export function decisionGrounds({ failureType, providerSaid, provenBy }: AuditedDecision): string[] {
  return [
    ...(failureType === undefined ? [] : [`held as ${failureType}`]),
    ...(providerSaid === undefined ? [] : [`provider said ${providerSaid}`]),
    ...(provenBy === undefined ? [] : [`proven by key ${provenBy}`]),
  ];
}

/** What a person does to a run as a whole; every other decision is about a part of it. */
const RUN_WORDS: Partial<Record<AuditedDecision['action'], string>> = {
  withdraw: 'It was withdrawn: nothing more is sent.',
  pause: 'It was paused.',
  resume: 'It was resumed.',
};

export function decisionWords(one: AuditedDecision): string {
  const ofRun = RUN_WORDS[one.action];
  if (ofRun !== undefined) return ofRun;
  const parts = [...decisionSubject(one), ...decisionGrounds(one)];
  return `Decision ${one.decisionId}: ${one.action}${parts.length === 0 ? '' : `, ${parts.join(', ')}`}.`;
}

export function consentWords(one: AuditedConsent): string {
  const unmatched = one.unmatched === undefined ? '' : ` It matches no ${one.unmatched} that the ledger knows.`;
  return `Consent ${one.decision} by applicant ${one.applicantId}: share ${one.shareId} with ${nameOfUser(one)}, ${one.consentId}.${unmatched}`;
}

export function attemptWords(one: AuditedAttempt): string {
  const codes = answerParts(one);
  const answered = codes.length === 0 ? '' : `, ${codes.join(', ')}`;
  return `${inquiryWords(one)}, attempt ${one.attempt}: ${one.outcome} (${POSTED_WORDS[one.posted]})${answered}.`;
}

export function lateWords(one: AuditedAttempt & { late: NonNullable<AuditedAttempt['late']> }): string {
  return `${inquiryWords(one)}, attempt ${one.attempt}, was answered late: ${one.late.outcome ?? 'no outcome'}.`;
}

const RETENTION_WORDS: Record<AuditedDisposal['kind'], string> = {
  disposalBegun: 'Its disposal was begun.',
  historyDeleted: 'A history was deleted from Temporal.',
  disposed: 'It was disposed of.',
  legalHoldSet: 'It came under a legal hold.',
  legalHoldReleased: 'Its legal hold was released.',
};

export function retentionWords({ kind, matter }: Pick<AuditedDisposal, 'kind' | 'matter'>): string {
  const words = RETENTION_WORDS[kind];
  return matter === undefined ? words : `${words} Matter: ${matter}.`;
}

type NamedWork = Pick<WorkRow, 'kind' | 'reason' | 'productCode' | 'shareId'>;

export function workWords({ kind, reason, productCode, shareId }: NamedWork): string {
  const about = productCode === undefined ? '' : ` ${inquiryWords({ productCode, ...(shareId ? { shareId } : {}) })}:`;
  if (isFailureType(reason)) return `On hold:${about} ${reason}; ${HOLD_GUIDE[reason].happened}`;
  const words = Object.hasOwn(ATTENTION_GUIDE, reason)
    ? ATTENTION_GUIDE[reason as keyof typeof ATTENTION_GUIDE].words
    : reason;
  return `${kind === 'held' ? 'On hold' : 'Needs a look'}:${about} ${words}.`;
}

/** Absent where a decision of its own says it. */
const ENDED: Record<WorkEnd['how'], string | undefined> = {
  decided: undefined,
  overtaken: undefined,
  seen: undefined,
  claimed: 'the next attempt was made',
  replaced: 'it is held for another reason',
  ended: 'its run goes on, or has ended',
  disposed: 'it was disposed of',
};

export function workEndWords(row: NamedWork, { how }: WorkEnd): string | undefined {
  const words = ENDED[how];
  const about = row.productCode === undefined ? '' : `${inquiryWords({ ...row, productCode: row.productCode })}: `;
  return words === undefined ? undefined : `No longer waits: ${about}${row.reason}; ${words}.`;
}
