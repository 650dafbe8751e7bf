/** Describes the ledger's records for the command line's lists and for a run's story. Nothing personal. Pure. */

import { omitUndefined } from '../base/defined.ts';
import type {
  AuditDecision,
  AuditedAccess,
  AuditedAttempt,
  AuditedDecision,
  AuditedDisposal,
  AuditedShare,
  AuditedShareWithdrawal,
  ListedConsent,
  Posted,
} from '../ledger/audit/audited.ts';
import type { WorkEnd, WorkRow } from '../ledger/holds/work.ts';
import { FAILURES, isFailureType } from '../model/failure-types.ts';
import { formatRunName } from '../model/run-key.ts';
import { describeSecondaryUser } from '../model/stage-end-user.ts';
import { describeReason, formatInquiryName, listAnswerParts } from './holds.ts';
import { AS_TEXT, countWords, dropMilliseconds } from './writer.ts';

const POSTED_WORDS: Record<Posted, string> = { yes: 'posted', no: 'not posted', unknown: 'perhaps posted' };

/** A record of the ledger in words: a line of its run's story, and of the command line's list of such records. */
export interface RecordLine {
  at: string;
  text: string;
  by?: string;
  reason?: string;
  customerTraceNumber?: string;
  attempt?: number;
}

/** A record with the facts that the story leaves out. */
export interface ListedRecord extends RecordLine {
  runKey: string;
  facts: string[];
}

/** Words for an operator's actions on a whole run; every other decision concerns a part of it. */
const RUN_WORDS: Partial<Record<AuditedDecision['action'], string>> = {
  withdraw: 'It was withdrawn: nothing more is sent.',
  pause: 'It was paused.',
  resume: 'It was resumed.',
};

export function describeDecision(decision: AuditedDecision): ListedRecord {
  const { runKey, recordedAt: at, by, reason, productCode, shareId, customerTraceNumber, attempt, until } = decision;
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
  const ofRun = RUN_WORDS[decision.action];
  const facts = ofRun === undefined ? [] : [decision.decisionId];
  const text = ofRun ?? `${parts.join(', ')}.`;
  return { ...{ at, text, by, reason, runKey, facts }, ...omitUndefined({ customerTraceNumber, attempt }) };
}

export function describeConsent(consent: ListedConsent): ListedRecord {
  const { evidence, permittedAttempts, unmatched, stands } = consent;
  const news = unmatched === undefined ? '' : ` It matches no ${unmatched} that the ledger knows.`;
  const uses = permittedAttempts === 0 ? 'no attempts' : countWords(permittedAttempts, 'attempt');
  return {
    at: consent.recordedAt,
    text: `Consent ${consent.decision} by applicant ${consent.applicantId}: share ${consent.shareId} with ${describeSecondaryUser(consent)}, ${consent.consentId}.${news}`,
    runKey: consent.runKey,
    facts: [
      `decided at ${dropMilliseconds(consent.decidedAt)}`,
      ...(evidence ? [`evidence: ${evidence.method}, text ${evidence.textVersion}, ${evidence.reference}`] : []),
      ...(consent.proof === undefined ? [] : ['proven by its consent system']),
      ...(consent.decision === 'granted' ? [`sent under it: ${uses}`] : []),
      `now: ${stands.decision}${stands.consentId === undefined ? '' : `, ${stands.consentId}`}`,
    ],
  };
}

export function describeShareWithdrawal(withdrawal: AuditedShareWithdrawal): ListedRecord {
  const { recordedAt: at, runKey, shareId, by, reason } = withdrawal;
  return { at, text: `Share ${shareId} was taken back before it was sent.`, by, reason, runKey, facts: [] };
}

export function describeShare(share: AuditedShare): ListedRecord {
  const { report, sharedBy = '', runKey, shareId = '', permissiblePurposeCode } = share;
  const purpose = permissiblePurposeCode === undefined ? '' : `, purpose ${permissiblePurposeCode}`;
  return {
    at: share.claimedAt,
    text: `Share ${shareId} (${POSTED_WORDS[share.posted]}): ${sharedBy} → ${describeSecondaryUser(share)}`,
    runKey,
    facts: [
      report
        ? `${report.productCode} of ${formatRunName(report.runKey)}, ${report.customerTraceNumber}`
        : 'a report that the ledger does not know',
      `${share.customerTraceNumber} attempt ${share.attempt}${purpose}`,
      ...share.consents.map(({ applicantId, consentId, decidedAt, evidence }) => {
        const proof = evidence ? `: ${evidence.method}, text ${evidence.textVersion}, ${evidence.reference}` : '';
        return `consent of ${applicantId}, ${consentId}, decided at ${dropMilliseconds(decidedAt)}${proof}`;
      }),
    ],
  };
}

export function describeAccess(access: AuditedAccess): ListedRecord {
  const { endUserCode, endUser, recordedAt: at, by, runKey, purpose } = access;
  const user = endUserCode ?? endUser;
  const via = access.via === 'api' ? 'by the HTTP API' : 'from the ledger';
  return {
    ...{ at, by, runKey },
    text: `${access.productCode} ${access.kind} was read ${via}${access.redacted ? ', masked' : ''}`,
    facts: [
      `${access.customerTraceNumber} attempt ${access.attempt}${user === undefined ? '' : `, pulled for ${user}`}`,
      ...(purpose === undefined ? [] : [`served again: ${purpose}`]),
    ],
  };
}

export function describeAttempt(audited: AuditedAttempt): ListedRecord {
  const { customerTraceNumber, attempt, runKey, applicants, sentTraceNumber, consents, decision, permittedBy } =
    audited;
  const { accesses, late, disposedAt, permissiblePurposeCode } = audited;
  const user = audited.endUserCode ?? audited.endUser;
  const codes = listAnswerParts(audited, AS_TEXT);
  const answered = codes.length === 0 ? '' : `, ${codes.join(', ')}`;
  const facts = [
    `${customerTraceNumber} attempt ${attempt}${applicants === undefined ? '' : `, ${countWords(applicants, 'applicant')}`}`,
    [user && `for ${user}`, permissiblePurposeCode && `purpose ${permissiblePurposeCode}`].filter(Boolean).join(', '),
    sentTraceNumber && `sent as ${sentTraceNumber}`,
    consents.length > 0 &&
      `consents ${consents.map(({ applicantId, consentId }) => `${applicantId} ${consentId}`).join(', ')}`,
    permittedBy && `permitted: ${describeRecordedDecision(permittedBy)}`,
    decision && `decided: ${describeRecordedDecision(decision)}`,
    accesses &&
      `read ${countWords(accesses.count, 'time')}, ${accesses.reissues} of them served it again, last at ${dropMilliseconds(accesses.lastAt)}`,
    late && `answered late, at ${dropMilliseconds(late.at)}: ${late.outcome ?? 'no outcome'}`,
    ...audited.legalHolds.map(({ runKey: held, matter, setAt, by }) => {
      return `under a legal hold on ${held}, matter ${matter}, set by ${by} at ${dropMilliseconds(setAt)}`;
    }),
    disposedAt && `disposed of at ${dropMilliseconds(disposedAt)}`,
  ].filter((fact) => typeof fact === 'string' && fact !== '') as string[];
  return {
    at: audited.claimedAt,
    text: `${formatInquiryName(audited)}, attempt ${attempt}: ${audited.outcome} (${POSTED_WORDS[audited.posted]})${answered}.`,
    ...{ customerTraceNumber, attempt, runKey, facts },
  };
}

function describeRecordedDecision({ action, by, decisionId, providerSaid, provenBy, reason }: AuditDecision): string {
  const proof = provenBy === undefined ? '' : `, proven by key ${provenBy}`;
  return `${action} by ${by} (${decisionId}, provider said ${providerSaid}${proof}): ${reason}`;
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

export function describeDisposal(disposal: AuditedDisposal): ListedRecord {
  const { recordedAt: at, kind, matter, by, reason, runKey, details, run } = disposal;
  const text = `${RETENTION_WORDS[kind]}${matter === undefined ? '' : ` Matter: ${matter}.`}`;
  const facts = [
    details && `${details.inquiries} inquiries, ${details.reports} reports, ${details.runs} runs`,
    run && `run: ${run.workflowId}, ${run.runId}`,
  ].filter((fact) => fact !== undefined);
  return { at, text, by, reason, runKey, facts };
}

type NamedWork = Pick<WorkRow, 'kind' | 'reason' | 'productCode' | 'shareId'>;

export function describeWork({ kind, reason, productCode, shareId }: NamedWork): string {
  const about =
    productCode === undefined ? '' : ` ${formatInquiryName({ productCode, ...(shareId ? { shareId } : {}) })}:`;
  if (isFailureType(reason)) return `On hold:${about} ${reason}; ${FAILURES[reason].happened}`;
  return `${kind === 'held' ? 'On hold' : 'Needs a look'}:${about} ${describeReason(reason)}.`;
}

/** Absent if the record of a decision has it. */
const ENDED: Record<WorkEnd['how'], string | undefined> = {
  decided: undefined,
  overtaken: undefined,
  seen: undefined,
  claimed: 'the next attempt was made',
  replaced: 'it is on hold for another reason',
  ended: 'its run continues, or has ended',
  disposed: 'it was disposed of',
};

export function describeWorkEnd(row: NamedWork, { how }: WorkEnd): string | undefined {
  const words = ENDED[how];
  const about = row.productCode === undefined ? '' : `${formatInquiryName({ ...row, productCode: row.productCode })}: `;
  return words === undefined ? undefined : `No longer waits: ${about}${row.reason}; ${words}.`;
}
