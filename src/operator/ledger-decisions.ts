/**
 * Decisions about inquiries whose run is gone, written straight into the ledger. A new start of the journey finds them
 * there. It continues with an accepted answer, spends a resend on one further attempt, and leaves an abandoned inquiry
 * abandoned.
 */

import { pick } from '../base/defined.ts';
import { CallError } from '../client/connection/errors.ts';
import { isRunOpen } from '../client/connection/temporal-runs.ts';
import { loadDecisionTrust } from '../config/config.ts';
import type { SeenRecord } from '../ledger/holds/holds.ts';
import { findDecisionDifferences } from '../ledger/inquiries/rules.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DecisionRecord, OpenInquiry } from '../ledger/records.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { type Decision, decision as decisionDefinition } from '../messages/resolve-inquiry.ts';
import { decisionContent } from '../model/decision-content.ts';
import { FAILURES, type FailureType } from '../model/failure-types.ts';
import { describeSupersedingFact } from '../model/inquiry.ts';
import { type JudgedHold, judgeDecision } from '../model/provider-word.ts';
import { type MessageRefusal, refuse, refusePaths } from '../model/refusals.ts';
import { formatRunName } from '../model/run-key.ts';
import type { DecisionProofVerdict } from '../protection/proofs.ts';
import type { LedgerJourneys } from './ledger-journeys.ts';

const ID_USED = '/decisionId was used';

/** `duplicate`: the ledger already had the same decision. @throws InvalidInputError, CallError */
export async function decideInLedger(journeys: LedgerJourneys, given: Decision): Promise<{ duplicate: boolean }> {
  const { customerTraceNumber, decisionId } = given;
  const ledger = await journeys.getLedger();
  const row = await readRow(ledger, customerTraceNumber);
  const message = parseMessage(decisionDefinition, given);
  const record = toDecisionRecord(message, row);
  const same = row.decisions.find((candidate) => candidate.decisionId === decisionId);
  if (same) {
    refuseIf(customerTraceNumber, refusePaths(ID_USED, findDecisionDifferences(same, record)));
    return { duplicate: true };
  }
  const isRunning = await isRunOpen(journeys.getSdkClient(), row.runKey);
  const refusal = isRunning
    ? // The run has the inquiry in hand, and would not learn of it.
      refuse('notNow', `${formatRunName(row.runKey)} is running: send the decision to the run instead`)
    : row.undecided
      ? judgeDecision(describeLeftBehind(row, row.undecided), message, Date.now())
      : explainRefusal(row);
  refuseIf(customerTraceNumber, refusal);
  const judged = await judgeProof(row, message, record.decidedAt);
  if (!judged.accepted) return throwRefusal({ customerTraceNumber }, refuse('unproven', `/proof ${judged.rule}`));
  const proven = judged.keyId === undefined ? record : { ...record, provenBy: judged.keyId };
  const verdict = await ledger.recordDecision(ledger.identity.ledgerId, row, proven);
  if (verdict.kind === 'overtaken')
    refuseIf(customerTraceNumber, refuse('notNow', describeSupersedingFact(verdict.latest)));
  if (verdict.kind === 'refused') refuseIf(customerTraceNumber, verdict);
  return { duplicate: false };
}

/** Describes, as a hold, an undecided inquiry whose run is gone. Only a run can amend: corrections need a new start. */
export function describeLeftBehind(
  { productCode, applicantIds, attempts }: OpenInquiry,
  { attempt, failureType: reason }: { attempt: number; failureType: FailureType },
): JudgedHold {
  const { resendFrom } = attempts.find((known) => known.attempt === attempt) ?? {};
  const allowedActions = FAILURES[reason].actions.filter((action) => action !== 'amend');
  return { reason, attempt, productCode, allowedActions, applicantIds, resendFrom, heldBy: 'ledger' };
}

/**
 * Marks as seen what no run waits for, so that it leaves the work queue: late messages about an inquiry (an answer, a
 * withdrawn consent), and flags of a run about none of its inquiries. If the run is gone, also the flags that it set, and
 * the inquiry's hold if nothing was sent.
 *
 * @throws CallError where there is nothing to see to
 */
export async function markSeen(journeys: LedgerJourneys, seen: SeenRecord): Promise<{ duplicate: boolean }> {
  const ledger = await journeys.getLedger();
  const { runKey } = 'flag' in seen ? seen : await readRow(ledger, seen.customerTraceNumber);
  const isOpen = await isRunOpen(journeys.getSdkClient(), runKey);
  const verdict = await ledger.recordSeen(ledger.identity.ledgerId, { ...seen, runIsGone: !isOpen });
  const isKnown = verdict.kind === 'known';
  const other = isKnown ? refusePaths(ID_USED, verdict.paths) : null;
  const refusal = verdict.kind === 'nothingToSee' ? refuse('notListed', 'no such row is on the list') : other;
  if (refusal) throwRefusal('flag' in seen ? { runKey } : pick(seen, ['customerTraceNumber']), refusal);
  return { duplicate: isKnown };
}

async function readRow(ledger: Ledger, customerTraceNumber: string): Promise<OpenInquiry> {
  const row = await ledger.inquiry(customerTraceNumber);
  return row ?? throwRefusal({ customerTraceNumber }, refuse('notNow', 'the ledger knows of no such inquiry'));
}

function throwRefusal(
  about: { customerTraceNumber: string } | { runKey: string },
  { cause: refusalCause, reason }: MessageRefusal,
): never {
  throw new CallError('decisionRefused', { ...about, reason, refusalCause });
}

/** @throws CallError where there is a refusal */
export function refuseIf(customerTraceNumber: string, refusal: MessageRefusal | null): void {
  if (refusal) throwRefusal({ customerTraceNumber }, refusal);
}

/**
 * Judges whether the decision needs a proof and has one, as a worker does of a run's.
 *
 * @throws ConfigError where what the environment says of decisions is wrong
 */
async function judgeProof(
  { environment, profile }: OpenInquiry,
  message: Decision,
  receivedAt: string,
): Promise<DecisionProofVerdict> {
  const { trust: readTrust, keysFile } = loadDecisionTrust(process.env);
  const trust = readTrust.get(profile);
  if (trust === undefined) {
    return { accepted: false, rule: 'cannot be judged: this configuration lacks the profile of the inquiry' };
  }
  // Loaded when needed: most callers decide about open runs, whose workers judge.
  const { createDecisionProofVerifier } = await import('../protection/proofs.ts');
  const content = decisionContent(environment, message);
  return createDecisionProofVerifier(keysFile)({ content, proof: message.proof, receivedAt }, trust);
}

function explainRefusal(row: OpenInquiry): MessageRefusal {
  const latest = row.attempts.at(-1);
  if (row.abandonedAt) return refuse('notNow', 'it was abandoned');
  if (!latest) return refuse('notNow', 'nothing was ever sent under it');
  if (latest.state === 'sending') return refuse('notNow', `its attempt ${latest.attempt} may still be answered`);
  const decided = row.decisions.some(({ attempt }) => attempt === latest.attempt);
  if (decided) return refuse('decided', 'it was decided already');
  return refuse('notNow', `its attempt ${latest.attempt} is ${latest.state}`);
}

function toDecisionRecord(message: Decision, { undecided }: OpenInquiry): DecisionRecord {
  const { outcome, reference, applicants: _, proof: __, ...decision } = message;
  return {
    ...decision,
    failureType: undecided?.failureType,
    decidedAt: new Date().toISOString(),
    answer: outcome === undefined ? undefined : { kind: 'outcome', outcome, ...(reference ? { reference } : {}) },
  };
}
