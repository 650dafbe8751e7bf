/**
 * Shares that were, or may have been, posted, as lines, CSV and JSON. No reference and no consumer id is in any of
 * them.
 */
import type { AuditedShareWithdrawal } from '../../ledger/record-audit.ts';
import type { AuditedShare, ShareConsent } from '../../ledger/share-audit.ts';
import { runName } from '../../model/owner-id.ts';
import { nameOfUser } from '../../model/secondary-user.ts';
import type { Cell } from './csv.ts';
import { readable } from './inquiry-formats.ts';
import { table, withAge } from './output.ts';

const POSTED = { yes: 'posted', no: 'not posted', unknown: 'not known' } as const;

/** At most `width` columns. */
export function shareLines(one: AuditedShare, width: number): string[] {
  const { report, sharedBy = '', consents } = one;
  const users = `${sharedBy} → ${nameOfUser(one)}`;
  const head = [withAge(one.claimedAt).padEnd(33), POSTED[one.posted], users];
  const purpose = one.permissiblePurposeCode === undefined ? '' : `, purpose ${one.permissiblePurposeCode}`;
  const details = [
    report
      ? `${report.productCode} of ${runName(report.ownerId)}, ${report.customerTraceNumber}`
      : 'a report that the ledger does not know',
    `share ${one.shareId ?? ''} of ${runName(one.ownerId)}, ${one.customerTraceNumber} attempt ${one.attempt}${purpose}`,
    ...consents.map(consentLine),
  ];
  return [...table([head], width), ...details.flatMap((line) => readable(line, width))];
}

/** At most `width` columns. */
export function withdrawnShareLines(one: AuditedShareWithdrawal, width: number): string[] {
  const { replacedBy, by, reason } = one;
  const details = [
    `share ${one.shareId} of ${runName(one.ownerId)}${replacedBy === undefined ? '' : `, replaced by ${replacedBy}`}`,
    `reason: ${reason}`,
  ];
  return [
    ...table([[withAge(one.recordedAt), 'withdrawn', `by ${by}`]], width),
    ...details.flatMap((line) => readable(line, width)),
  ];
}

function consentLine({ applicantId, consentId, decidedAt, evidence }: ShareConsent): string {
  const proof = evidence ? `: ${evidence.method}, text ${evidence.textVersion}, ${evidence.reference}` : '';
  return `consent of ${applicantId}, ${consentId}, decided ${seconds(decidedAt)}${proof}`;
}

function seconds(instant: string): string {
  return instant.replace(/\.\d+/, '');
}

/** `ownerId` is called `journeyId` here as everywhere on the command line. */
export function shareDocument({ ownerId, report, ...one }: AuditedShare): object {
  const { ownerId: reportOwnerId, ...rest } = report ?? {};
  return { journeyId: ownerId, ...one, report: report ? { journeyId: reportOwnerId, ...rest } : null };
}

export const SHARE_COLUMNS: Record<string, (one: AuditedShare) => Cell> = {
  claimedAt: (one) => one.claimedAt,
  requestedAt: (one) => one.requestedAt,
  posted: (one) => one.posted,
  sharedBy: (one) => one.sharedBy,
  endUserCode: (one) => one.endUserCode,
  endUser: (one) => one.endUser,
  permissiblePurposeCode: (one) => one.permissiblePurposeCode,
  journeyId: (one) => one.ownerId,
  shareId: (one) => one.shareId,
  customerTraceNumber: (one) => one.customerTraceNumber,
  attempt: (one) => one.attempt,
  reportJourneyId: (one) => one.report?.ownerId,
  reportProductCode: (one) => one.report?.productCode,
  reportTraceNumber: (one) => one.report?.customerTraceNumber,
  consents: (one) => one.consents.map((consent) => `${consent.applicantId} ${consent.consentId}`).join('; '),
  consentsDecidedAt: (one) => one.consents.map(({ decidedAt }) => decidedAt).join('; '),
  evidence: (one) => one.consents.map(({ evidence }) => evidence?.reference ?? '').join('; '),
  outcome: (one) => one.outcome,
  customerId: (one) => one.customerId,
  profile: (one) => one.profile,
  environment: (one) => one.environment,
};
