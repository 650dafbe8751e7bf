/** Inquiries as lines, CSV and JSON. No report's reference and no consumer id is in any of them. */

import type { AuditedAttempt, InquiryTotal } from '../../ledger/inquiry-audit.ts';
import { runName } from '../../model/owner-id.ts';
import type { ApplicantOutcome } from '../../model/report-outcome.ts';
import { consentText, type ListedRecord } from '../../words/records.ts';
import { columnsFor } from './csv.ts';
import { table, withAge, wrapLong } from './output.ts';

/** A record of the ledger, of at most `width` columns. */
export function recordLines({ at, text, by, reason, ownerId, facts }: ListedRecord, width: number): string[] {
  const who = by === undefined ? [] : [`by ${by}${reason === undefined ? '' : `: ${reason}`}`];
  const [head = '', ...more] = readable(`${withAge(at)} ${text}`, width - 4, '');
  const details = [runName(ownerId), ...facts, ...who].flatMap((line) => readable(line, width));
  return [head, ...more.map((line) => `    ${line}`), ...details];
}

/** Cleans text that people have written: it may hold control characters, and words longer than a line. */
function readable(text: string, width: number, indent = '    '): string[] {
  return wrapLong(text.replaceAll(/\p{Cc}+/gu, ' '), width, indent);
}

export function totalLines(totals: readonly InquiryTotal[], width: number): string[] {
  if (totals.length === 0) return ['no inquiries'];
  const rows = totals.map((total) => [
    total.productCode,
    ...[total.sent, total.posted, total.notPosted, total.unknown].map(String),
    // Last, since a name may be long.
    endUserOf(total),
  ]);
  return table([['PRODUCT', 'SENT', 'POSTED', 'NOT POSTED', 'NOT KNOWN', 'END USER'], ...rows], width);
}

function endUserOf({ endUserCode, endUser }: InquiryTotal): string {
  return [endUserCode, endUser].filter((text) => text !== undefined).join(' ');
}

/** As JSON: `ownerId` is called `journeyId` everywhere on the command line; of a pull it is `pull:<pullId>`. */
export function underJourneyId({ ownerId, ...one }: { ownerId: string }): object {
  return { journeyId: ownerId, ...one };
}

function outcomeText({ applicantId, outcome, returnCode, returnReasonCode }: ApplicantOutcome): string {
  const codes = [returnCode, returnReasonCode].filter((code) => code !== undefined);
  return `${applicantId} ${outcome}${codes.length === 0 ? '' : ` (${codes.join(' ')})`}`;
}

export const ATTEMPT_COLUMNS = columnsFor<AuditedAttempt>(
  ['claimedAt', 'requestedAt'],
  { journeyId: (one) => one.ownerId },
  ['workflowType', 'customerTraceNumber', 'attempt', 'environment', 'profile', 'customerId'],
  ['productCode', 'shareId', 'endUserCode', 'endUser', 'permissiblePurposeCode'],
  { consents: (one) => one.consents.map(consentText).join('; ') },
  ['outcome', 'posted', 'returnCode', 'httpStatus', 'failureType', 'amends'],
  {
    permittedBy: (one) => one.permittedBy?.decisionId,
    permittedByWhom: (one) => one.permittedBy?.by,
    permittedBecause: (one) => one.permittedBy?.reason,
    decision: (one) => one.decision?.decisionId,
    decidedAction: (one) => one.decision?.action,
    decidedByWhom: (one) => one.decision?.by,
    decidedBecause: (one) => one.decision?.reason,
    providerSaid: (one) => one.decision?.providerSaid,
    lateAnswerAt: (one) => one.late?.at,
    lateOutcome: (one) => one.late?.outcome,
  },
  ['abandonedAt', 'disposedAt'],
  {
    // New columns come last: readers may go by position.
    permitProvenBy: (one) => one.permittedBy?.provenBy,
    decisionProvenBy: (one) => one.decision?.provenBy,
  },
  ['applicants', 'returnReasonCode'],
  { applicantOutcomes: (one) => one.applicantOutcomes?.map(outcomeText).join('; ') },
  ['noRecordReference'],
  {
    accesses: (one) => one.accesses?.count,
    reissues: (one) => one.accesses?.reissues,
    lastAccessAt: (one) => one.accesses?.lastAt,
    lateReturnCode: (one) => one.late?.returnCode,
    lateReturnReasonCode: (one) => one.late?.returnReasonCode,
    lateApplicantOutcomes: (one) => one.late?.applicantOutcomes?.map(outcomeText).join('; '),
    lateNoRecordReference: (one) => one.late?.noRecordReference,
    legalHolds: (one) => one.legalHolds.map(({ matter }) => matter).join('; '),
  },
  ['sentTraceNumber'],
);

export const TOTAL_COLUMNS = columnsFor<InquiryTotal>([
  'productCode',
  'endUserCode',
  'endUser',
  'sent',
  'posted',
  'notPosted',
  'unknown',
]);
