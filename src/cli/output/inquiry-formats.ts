/** Inquiries as lines, CSV and JSON. No report's reference and no consumer id is in any of them. */

import type { AuditedAttempt, InquiryTotal } from '../../ledger/inquiry-audit.ts';
import { runName } from '../../model/owner-id.ts';
import { consentText, type ListedRecord, outcomeText } from '../../words/records.ts';
import { type Cell, csvLine } from './csv.ts';
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

const ATTEMPT_COLUMNS: Record<string, (one: AuditedAttempt) => Cell> = {
  claimedAt: (one) => one.claimedAt,
  requestedAt: (one) => one.requestedAt,
  journeyId: (one) => one.ownerId,
  workflowType: (one) => one.workflowType,
  customerTraceNumber: (one) => one.customerTraceNumber,
  attempt: (one) => one.attempt,
  environment: (one) => one.environment,
  profile: (one) => one.profile,
  customerId: (one) => one.customerId,
  productCode: (one) => one.productCode,
  shareId: (one) => one.shareId,
  endUserCode: (one) => one.endUserCode,
  endUser: (one) => one.endUser,
  permissiblePurposeCode: (one) => one.permissiblePurposeCode,
  consents: (one) => one.consents.map(consentText).join('; '),
  outcome: (one) => one.outcome,
  posted: (one) => one.posted,
  returnCode: (one) => one.returnCode,
  httpStatus: (one) => one.httpStatus,
  failureType: (one) => one.failureType,
  amends: (one) => one.amends,
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
  abandonedAt: (one) => one.abandonedAt,
  disposedAt: (one) => one.disposedAt,
  // New columns come last: readers may go by position.
  permitProvenBy: (one) => one.permittedBy?.provenBy,
  decisionProvenBy: (one) => one.decision?.provenBy,
  applicants: (one) => one.applicants,
  returnReasonCode: (one) => one.returnReasonCode,
  applicantOutcomes: (one) => one.applicantOutcomes?.map(outcomeText).join('; '),
  noRecordReference: (one) => one.noRecordReference,
  accesses: (one) => one.accesses?.count,
  reissues: (one) => one.accesses?.reissues,
  lastAccessAt: (one) => one.accesses?.lastAt,
  lateReturnCode: (one) => one.late?.returnCode,
  lateReturnReasonCode: (one) => one.late?.returnReasonCode,
  lateApplicantOutcomes: (one) => one.late?.applicantOutcomes?.map(outcomeText).join('; '),
  lateNoRecordReference: (one) => one.late?.noRecordReference,
  legalHolds: (one) => one.legalHolds.map(({ matter }) => matter).join('; '),
  sentTraceNumber: (one) => one.sentTraceNumber,
};

const TOTAL_COLUMNS: Record<string, (total: InquiryTotal) => Cell> = {
  productCode: (total) => total.productCode,
  endUserCode: (total) => total.endUserCode,
  endUser: (total) => total.endUser,
  sent: (total) => total.sent,
  posted: (total) => total.posted,
  notPosted: (total) => total.notPosted,
  unknown: (total) => total.unknown,
};

export const ATTEMPT_CSV_HEAD = csvLine(Object.keys(ATTEMPT_COLUMNS));
export const TOTAL_CSV_HEAD = csvLine(Object.keys(TOTAL_COLUMNS));

export function attemptCsv(one: AuditedAttempt): string {
  return csvLine(Object.values(ATTEMPT_COLUMNS).map((cellOf) => cellOf(one)));
}

export function totalCsv(total: InquiryTotal): string {
  return csvLine(Object.values(TOTAL_COLUMNS).map((cellOf) => cellOf(total)));
}
