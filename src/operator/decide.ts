/**
 * Decides about inquiries on hold, one or many: tells the open run, or writes into the ledger where the run is gone. The
 * command line and the HTTP API decide by these functions alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pick } from '../base/defined.ts';
import type { CallOptions } from '../client/connection/calls.ts';
import { CallError, hasCode, toRefusedError } from '../client/connection/errors.ts';
import { isRunOpen } from '../client/connection/temporal-runs.ts';
import { loadDecisionTrust } from '../config/config.ts';
import { LedgerUnavailableError } from '../ledger/errors.ts';
import type { SeenRecord } from '../ledger/holds/holds.ts';
import { findDecisionDifferences } from '../ledger/inquiries/rules.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DecisionRecord, OpenInquiry } from '../ledger/records.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { type Decision, decision } from '../messages/resolve-inquiry.ts';
import { decisionContent } from '../model/decision-content.ts';
import { FAILURES, type FailureType } from '../model/failure-types.ts';
import { describeSupersedingFact } from '../model/inquiry.ts';
import { type JudgedDecision, type JudgedHold, judgeDecision } from '../model/provider-word.ts';
import { type MessageRefusal, refuse, refusePaths } from '../model/refusals.ts';
import { formatRunName } from '../model/run-key.ts';
import type { DecisionProofVerdict } from '../protection/proofs.ts';
import { describeHold } from './holds.ts';
import type { LedgerJourneys } from './ledger-journeys.ts';

/**
 * Reads an inquiry of this run that waits for a decision, with its allowed actions. Returns `undefined` if the ledger
 * has no such row.
 */
export async function readDecidable(
  journeys: LedgerJourneys,
  runKey: string,
  customerTraceNumber: string,
): Promise<JudgedHold | undefined> {
  const ledger = await journeys.getLedger();
  const { rows } = await ledger.tasks.open({ customerTraceNumber, kind: 'held', limit: 1 });
  const [row] = rows.filter((found) => isOwnRun(runKey, found.runKey));
  if (!row) return undefined;
  const [inquiry, isOpen] = await Promise.all([
    ledger.inquiry(customerTraceNumber),
    isRunOpen(journeys.getSdkClient(), runKey),
  ]);
  const undecided = inquiry?.undecided;
  if (!isOpen && undecided && undecided.attempt === row.attempt) return describeLeftBehind(inquiry, undecided);
  const { reason, attempt, productCode = 'CR' } = row;
  const { allowedActions, applicantIds = inquiry?.applicantIds, resendFrom } = describeHold(row);
  // Every hold has its product.
  const hold = { reason, attempt, productCode, applicantIds, resendFrom };
  // When the run has closed, no run waits for an inquiry that was never sent or already has an answer.
  return isOpen ? { ...hold, allowedActions, heldBy: 'run' } : { ...hold, allowedActions: ['seen'], heldBy: 'ledger' };
}

/**
 * Sends the decision to the run. If the run has closed, writes a decision about its inquiry into the ledger. The answer is
 * that of `POST /v1/runs/{runKey}/decisions`.
 *
 * @throws InvalidInputError, CallError
 */
export async function decide(journeys: LedgerJourneys, runKey: string, decision: Decision, options: CallOptions = {}) {
  try {
    const { duplicate, recorded = true } = await journeys.run(runKey).send('resolveInquiry', decision, options);
    return { accepted: true, duplicate, recorded, heldBy: 'run' };
  } catch (error) {
    const isUnawaited = error instanceof CallError && error.refusalCause === 'notOnHold';
    if (!isUnawaited && !hasCode(error, 'notFound', 'journeyFinished')) throw error;
    const found = await (await journeys.getLedger()).inquiry(decision.customerTraceNumber);
    if (!found || !isOwnRun(runKey, found.runKey)) throw error;
    if (isUnawaited && !(await isLeftToLedger(journeys, found, decision))) throw error;
    const { duplicate } = await decideInLedger(journeys, decision, isUnawaited);
    return { accepted: true, duplicate, recorded: true, heldBy: isUnawaited ? 'run' : 'ledger' };
  }
}

/** A run holds within seconds after the ledger has opened the row. */
const HELD_WITHIN_MS = 60_000;

/**
 * Whether the ledger has, or needs, this decision, and the open run needs none: an older copy of the ledger lacks the
 * outcome that the run has.
 */
async function isLeftToLedger(journeys: LedgerJourneys, { undecided, decisions }: OpenInquiry, decision: Decision) {
  const { customerTraceNumber, decisionId, attempt } = decision;
  if (decisions.some((known) => known.decisionId === decisionId)) return true;
  const { rows } = await (await journeys.getLedger()).tasks.open({ customerTraceNumber, kind: 'held', limit: 1 });
  const isOld = rows.some(({ since }) => Date.parse(since) < Date.now() - HELD_WITHIN_MS);
  return isOld && undecided?.attempt === attempt;
}

/** Rows of a review belong to the review's run. */
function isOwnRun(runKey: string, found: string): boolean {
  return found === runKey || (runKey.startsWith('portfolio:') && found.startsWith(`${runKey}/`));
}

/**
 * Judges a decision by the ledger's row and by whether its run is open. Decides nothing, and needs no worker.
 *
 * @throws CallError
 */
export async function requireDecidable(
  journeys: LedgerJourneys,
  runKey: string,
  { customerTraceNumber, ...decision }: JudgedDecision & { customerTraceNumber: string },
): Promise<JudgedHold> {
  const hold = await readDecidable(journeys, runKey, customerTraceNumber);
  const nothingWaits = refuse('notOnHold', 'nothing waits for a decision about it');
  refuseIf(customerTraceNumber, hold ? judgeDecision(hold, decision, Date.now()) : nothingWaits);
  return hold as JudgedHold;
}

/** A run takes a decision a moment before the ledger has it. */
const TRIES = 5;
const PAUSE_MS = 200;

/**
 * Finds the decision about the attempt that came before a refused one and remains in force. Returns `undefined` if there
 * is none, and if the ledger cannot say.
 */
export async function findEarlier(
  journeys: LedgerJourneys,
  runKey: string,
  { customerTraceNumber, attempt, decisionId }: { customerTraceNumber: string; attempt: number; decisionId?: string },
  tries = TRIES,
) {
  const ledger = await journeys.getLedger();
  for (let left = tries; left > 0; left--) {
    const found = await ledger.inquiry(customerTraceNumber).catch((error: unknown) => {
      if (error instanceof LedgerUnavailableError) return null;
      throw error;
    });
    const isOther = (record: DecisionRecord) =>
      record.attempt === attempt && record.decisionId !== decisionId && record.action !== 'repeat';
    const other = found && isOwnRun(runKey, found.runKey) ? found.decisions.findLast(isOther) : undefined;
    if (other) return { decisionId: other.decisionId, action: other.action, by: other.by, at: other.decidedAt };
    if (left > 1) await sleep(PAUSE_MS);
  }
  return undefined;
}

// Decisions about inquiries whose run is gone, written straight into the ledger. A new start of the journey finds them
// there. It continues with an accepted answer, spends a resend on one further attempt, and leaves an abandoned inquiry
// abandoned.

const ID_USED = '/decisionId was used';

/**
 * `duplicate`: the ledger already had the same decision.
 *
 * @param isUnawaited the run may be open, since it does not wait for this decision
 * @throws InvalidInputError, CallError
 */
export async function decideInLedger(journeys: LedgerJourneys, given: Decision, isUnawaited = false) {
  const { customerTraceNumber, decisionId } = given;
  const ledger = await journeys.getLedger();
  const row = await readRow(ledger, customerTraceNumber);
  const message = parseMessage(decision, given);
  const { outcome, reference, applicants: _, proof: __, ...content } = message;
  const record: DecisionRecord = {
    ...content,
    failureType: row.undecided?.failureType,
    decidedAt: new Date().toISOString(),
    answer: outcome === undefined ? undefined : { kind: 'outcome', outcome, ...(reference ? { reference } : {}) },
  };
  const same = row.decisions.find((candidate) => candidate.decisionId === decisionId);
  if (same) {
    refuseIf(customerTraceNumber, refusePaths(ID_USED, findDecisionDifferences(same, record)));
    return { duplicate: true };
  }
  const isRunning = !isUnawaited && (await isRunOpen(journeys.getSdkClient(), row.runKey));
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
function describeLeftBehind(
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

function throwRefusal(about: object, refusal: MessageRefusal): never {
  throw toRefusedError(about, refusal, 'decisionRefused');
}

/** @throws CallError where there is a refusal */
function refuseIf(customerTraceNumber: string, refusal: MessageRefusal | null): void {
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
