/** Describes the ledger's records for the command line's lists and for a run's story. Nothing personal. Pure. */

import { defined } from '../base/defined.ts';
import type {
  AuditDecision,
  AuditedAttempt,
  AuditedConsent,
  AuditedDecision,
  AuditedDisposal,
  AuditedShare,
  AuditedShareWithdrawal,
  Posted,
} from '../ledger/audit/audited.ts';
import type { WorkEnd, WorkRow } from '../ledger/holds/work.ts';
import type { AuditedAccess } from '../ledger/reports/reports.ts';
import { FAILURES, isFailureType } from '../model/failure-types.ts';
import { runName } from '../model/run-key.ts';
import { nameOfUser } from '../model/stage-end-user.ts';
import { answerParts, inquiryWords, reasonWords } from './holds.ts';
import { AS_TEXT, countWords, inSeconds } from './writer.ts';

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

export function describeDecision(one: AuditedDecision): ListedRecord {
  const { runKey, recordedAt: at, by, reason, productCode, shareId, customerTraceNumber, attempt, until } = one;
  const { failureType, providerSaid, provenBy } = one;
  const trace = customerTraceNumber && `${customerTraceNumber}${attempt === undefined ? '' : ` attempt ${attempt}`}`;
  const parts = [
    `Decision ${one.decisionId}: ${one.action}`,
    productCode,
    shareId && `share ${shareId}`,
    trace,
    until && `until ${until}`,
    failureType && `held as ${failureType}`,
    providerSaid && `provider said ${providerSaid}`,
    provenBy && `proven by key ${provenBy}`,
  ].filter((part) => part !== undefined);
  const ofRun = RUN_WORDS[one.action];
  const facts = ofRun === undefined ? [] : [one.decisionId];
  const text = ofRun ?? `${parts.join(', ')}.`;
  return { ...{ at, text, by, reason, runKey, facts }, ...defined({ customerTraceNumber, attempt }) };
}

export function describeConsent(one: AuditedConsent): ListedRecord {
  const { evidence, permittedAttempts, unmatched } = one;
  const news = unmatched === undefined ? '' : ` It matches no ${unmatched} that the ledger knows.`;
  const uses = permittedAttempts === 0 ? 'no attempts' : countWords(permittedAttempts, 'attempt');
  return {
    at: one.recordedAt,
    text: `Consent ${one.decision} by applicant ${one.applicantId}: share ${one.shareId} with ${nameOfUser(one)}, ${one.consentId}.${news}`,
    runKey: one.journeyId,
    facts: [
      `decided at ${inSeconds(one.decidedAt)}`,
      ...(evidence ? [`evidence: ${evidence.method}, text ${evidence.textVersion}, ${evidence.reference}`] : []),
      ...(one.proof === undefined ? [] : ['proven by its consent system']),
      ...(one.decision === 'granted' ? [`sent under it: ${uses}`] : []),
    ],
  };
}

export function describeShareWithdrawal(one: AuditedShareWithdrawal): ListedRecord {
  const { recordedAt: at, runKey, shareId, replacedBy, by, reason } = one;
  const text = `Share ${shareId} was taken back before it was sent.`;
  return { at, text, by, reason, runKey, facts: replacedBy === undefined ? [] : [`replaced by ${replacedBy}`] };
}

export function describeShare(one: AuditedShare): ListedRecord {
  const { report, sharedBy = '', runKey, shareId = '', permissiblePurposeCode } = one;
  const purpose = permissiblePurposeCode === undefined ? '' : `, purpose ${permissiblePurposeCode}`;
  return {
    at: one.claimedAt,
    text: `Share ${shareId} (${POSTED_WORDS[one.posted]}): ${sharedBy} → ${nameOfUser(one)}`,
    runKey,
    facts: [
      report
        ? `${report.productCode} of ${runName(report.runKey)}, ${report.customerTraceNumber}`
        : 'a report that the ledger does not know',
      `${one.customerTraceNumber} attempt ${one.attempt}${purpose}`,
      ...one.consents.map(({ applicantId, consentId, decidedAt, evidence }) => {
        const proof = evidence ? `: ${evidence.method}, text ${evidence.textVersion}, ${evidence.reference}` : '';
        return `consent of ${applicantId}, ${consentId}, decided at ${inSeconds(decidedAt)}${proof}`;
      }),
    ],
  };
}

export function describeAccess(one: AuditedAccess): ListedRecord {
  const { endUserCode, endUser, recordedAt: at, by, runKey, purpose } = one;
  const user = endUserCode ?? endUser;
  const via = one.via === 'api' ? 'by the HTTP API' : 'from the ledger';
  return {
    ...{ at, by, runKey },
    text: `${one.productCode} ${one.kind} was read ${via}${one.redacted ? ', masked' : ''}`,
    facts: [
      `${one.customerTraceNumber} attempt ${one.attempt}${user === undefined ? '' : `, pulled for ${user}`}`,
      ...(purpose === undefined ? [] : [`served again: ${purpose}`]),
    ],
  };
}

export function describeAttempt(one: AuditedAttempt): ListedRecord {
  const { customerTraceNumber, attempt, runKey, applicants, sentTraceNumber, consents, decision, permittedBy } = one;
  const { accesses, late, disposedAt, permissiblePurposeCode } = one;
  const user = one.endUserCode ?? one.endUser;
  const codes = answerParts(one, AS_TEXT);
  const answered = codes.length === 0 ? '' : `, ${codes.join(', ')}`;
  const facts = [
    `${customerTraceNumber} attempt ${attempt}${applicants === undefined ? '' : `, ${countWords(applicants, 'applicant')}`}`,
    [user && `for ${user}`, permissiblePurposeCode && `purpose ${permissiblePurposeCode}`].filter(Boolean).join(', '),
    sentTraceNumber && `sent as ${sentTraceNumber}`,
    consents.length > 0 &&
      `consents ${consents.map(({ applicantId, consentId }) => `${applicantId} ${consentId}`).join(', ')}`,
    permittedBy && `permitted: ${decisionText(permittedBy)}`,
    decision && `decided: ${decisionText(decision)}`,
    accesses &&
      `read ${countWords(accesses.count, 'time')}, ${accesses.reissues} of them served it again, last at ${inSeconds(accesses.lastAt)}`,
    late && `answered late, at ${inSeconds(late.at)}: ${late.outcome ?? 'no outcome'}`,
    ...one.legalHolds.map(({ journeyId, matter, setAt, by }) => {
      return `under a legal hold on ${journeyId}, matter ${matter}, set by ${by} at ${inSeconds(setAt)}`;
    }),
    disposedAt && `disposed of at ${inSeconds(disposedAt)}`,
  ].filter((fact) => typeof fact === 'string' && fact !== '') as string[];
  return {
    at: one.claimedAt,
    text: `${inquiryWords(one)}, attempt ${attempt}: ${one.outcome} (${POSTED_WORDS[one.posted]})${answered}.`,
    ...{ customerTraceNumber, attempt, runKey, facts },
  };
}

function decisionText({ action, by, decisionId, providerSaid, provenBy, reason }: AuditDecision): string {
  const proof = provenBy === undefined ? '' : `, proven by key ${provenBy}`;
  return `${action} by ${by} (${decisionId}, provider said ${providerSaid}${proof}): ${reason}`;
}

/** Returns `undefined` if no answer came late. */
export function describeLateAnswer(one: AuditedAttempt): RecordLine | undefined {
  const { customerTraceNumber, attempt, late } = one;
  if (!late) return undefined;
  const text = `${inquiryWords(one)}, attempt ${attempt}, was answered late: ${late.outcome ?? 'no outcome'}.`;
  return { at: late.at, text, customerTraceNumber, attempt };
}

const RETENTION_WORDS: Record<AuditedDisposal['kind'], string> = {
  disposalBegun: 'Its disposal was begun.',
  historyDeleted: 'A history was deleted from Temporal.',
  disposed: 'It was disposed of.',
  legalHoldSet: 'It came under a legal hold.',
  legalHoldReleased: 'Its legal hold was released.',
};

export function describeDisposal(one: AuditedDisposal): ListedRecord {
  const { recordedAt: at, kind, matter, by, reason, runKey, details, productCode, run } = one;
  const text = `${RETENTION_WORDS[kind]}${matter === undefined ? '' : ` Matter: ${matter}.`}`;
  const facts = [
    productCode && `${productCode} alone`,
    details && `${details.inquiries} inquiries, ${details.reports} reports, ${details.runs} runs`,
    run && `run: ${run.workflowId}, ${run.runId}`,
  ].filter((fact) => fact !== undefined);
  return { at, text, by, reason, runKey, facts };
}

type NamedWork = Pick<WorkRow, 'kind' | 'reason' | 'productCode' | 'shareId'>;

export function workWords({ kind, reason, productCode, shareId }: NamedWork): string {
  const about = productCode === undefined ? '' : ` ${inquiryWords({ productCode, ...(shareId ? { shareId } : {}) })}:`;
  if (isFailureType(reason)) return `On hold:${about} ${reason}; ${FAILURES[reason].happened}`;
  return `${kind === 'held' ? 'On hold' : 'Needs a look'}:${about} ${reasonWords(reason)}.`;
}

/** Absent if a decision's own record says it. */
const ENDED: Record<WorkEnd['how'], string | undefined> = {
  decided: undefined,
  overtaken: undefined,
  seen: undefined,
  claimed: 'the next attempt was made',
  replaced: 'it is on hold for another reason',
  ended: 'its run continues, or has ended',
  disposed: 'it was disposed of',
};

export function workEndWords(row: NamedWork, { how }: WorkEnd): string | undefined {
  const words = ENDED[how];
  const about = row.productCode === undefined ? '' : `${inquiryWords({ ...row, productCode: row.productCode })}: `;
  return words === undefined ? undefined : `No longer waits: ${about}${row.reason}; ${words}.`;
}
