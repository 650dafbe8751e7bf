/** The ledger's own records: attempts and their authorization, rows that need an operator, and the audit chain. */

import { judgesAttempts } from '../../../src/ledger/audit/audited.ts';
import { HELD_STATES } from '../../../src/ledger/claim.ts';
import { FAILURES } from '../../../src/model/failure-types.ts';
import type { LedgerAttempt, LedgerDecision } from '../evidence.ts';
import { InquiryIndex } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';

export const auditChain: Invariant = {
  name: "the ledger's audit chain verifies, and has every decision, consent, pause and withdrawal",
  judge({ ledger: { chain, decisions, consents, orders } }) {
    const rows = decisions.length + consents.length + orders;
    const failures = chain.findings.map(({ kind, position }) => `entry ${position ?? '?'}: ${kind}`);
    if (chain.entries !== rows)
      failures.push(`${chain.entries} entries over ${rows} decisions, consents, pauses and withdrawals`);
    return { count: chain.entries, failures };
  },
};

export const attemptsInOrder: Invariant = {
  name: 'attempts have no gaps, and each was permitted by how the one before it ended or by one decision',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const failures: string[] = [];
    for (const trace of index.inquiries.keys()) {
      const attempts = index.attempts(trace);
      const step = index.stepOf(trace);
      const closed = evidence.ledger.closed.filter(({ customerTraceNumber }) => customerTraceNumber === trace);
      const isClosed = (number: number) => closed.some(({ attempt }) => attempt === number);
      attempts.forEach((attempt, at) => {
        const number = at + 1 + closed.filter((one) => one.attempt < attempt.attempt).length;
        if (attempt.attempt !== number) failures.push(`${step}: attempt ${attempt.attempt} stands as number ${number}`);
        if (isClosed(attempt.attempt)) failures.push(`${step}: attempt ${attempt.attempt} was claimed, and is closed`);
        const before = attempts[at - 1];
        const problem = before && permitProblem(before, attempt, index, isClosed);
        if (problem) failures.push(`${step} attempt ${attempt.attempt}: ${problem}`);
      });
      failures.push(...spentTwice(attempts).map((decisionId) => `${step}: decision ${decisionId} was spent twice`));
      const abandonedAtMs = index.inquiries.get(trace)?.abandonedAtMs ?? Number.POSITIVE_INFINITY;
      if (attempts.some(({ claimedAtMs }) => claimedAtMs > abandonedAtMs))
        failures.push(`${step}: claimed after abandon`);
    }
    return { count: evidence.ledger.attempts.length, failures };
  },
};

/** A request that did not reach the gateway, or that the profile takes for not processed, may be sent again. */
const TRIED_AGAIN: readonly string[] = ['notSent', 'notProcessed'];

function permitProblem(
  before: LedgerAttempt,
  attempt: LedgerAttempt,
  index: InquiryIndex,
  isClosed: (attempt: number) => boolean,
): string | null {
  const { permittedBy, customerTraceNumber } = attempt;
  if (attempt.claimedAtMs < before.claimedAtMs) return 'is older than the one before it';
  if (permittedBy === undefined)
    return TRIED_AGAIN.includes(before.state) ? null : `follows one that is ${before.state}`;
  const decision = index.decisions(customerTraceNumber).find(({ decisionId }) => decisionId === permittedBy);
  if (decision?.action !== 'resend') return 'was permitted by a decision that is no resend';
  // The next attempt spends the decision that a closed attempt would have spent.
  let permitted = decision.permitsAttempt;
  while (permitted !== undefined && permitted < attempt.attempt && isClosed(permitted)) permitted++;
  if (permitted !== attempt.attempt) return 'was permitted by the decision about another attempt';
  return judgmentProblem(before, decision);
}

/** An operator resends an unknown outcome after asking the provider. Every other resend must match the ledger's row. */
function judgmentProblem({ state }: LedgerAttempt, { failureType }: LedgerDecision): string | null {
  if (failureType === undefined || failureType === 'OutcomeUnknown') return null;
  const judged = FAILURES[failureType].state;
  return judged === state
    ? null
    : `was permitted by a decision about ${failureType}, and the one before it is ${state}`;
}

function spentTwice(attempts: readonly LedgerAttempt[]): string[] {
  const spent = attempts.flatMap(({ permittedBy }) => (permittedBy === undefined ? [] : [permittedBy]));
  return [...new Set(spent.filter((decisionId, at) => spent.indexOf(decisionId) !== at))];
}

export const statusesAsConfigured: Invariant = {
  name: 'only statuses with a standing decision end an attempt as not processed',
  judge({ ledger: { attempts }, notProcessedStatuses }) {
    const ended = attempts.filter(({ state }) => state === 'notProcessed');
    const failures = ended
      .filter(({ httpStatus }) => httpStatus === undefined || !notProcessedStatuses.includes(httpStatus))
      .map(
        ({ customerTraceNumber, attempt, httpStatus }) => `${customerTraceNumber} attempt ${attempt}: ${httpStatus}`,
      );
    return { count: ended.length, failures };
  },
};

export const decisionsTaken: Invariant = {
  name: 'every decision in the ledger was taken by somebody, as it stands there',
  judge({ ledger: { decisions }, decisionsTaken: taken }) {
    const keyOf = (of: { customerTraceNumber: string; decisionId: string; attempt: number; action: string }) =>
      [of.customerTraceNumber, of.decisionId, of.attempt, of.action].join(' ');
    const known = new Set(taken.map(({ message }) => keyOf(message)));
    const failures = decisions.filter((decision) => !known.has(keyOf(decision))).map(keyOf);
    return { count: decisions.length, failures };
  },
};

export const needsListed: Invariant = {
  name: 'what needs a person is listed, with or without a run, and nothing else is',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const listed = new Map(evidence.ledger.open.map((open) => [open.customerTraceNumber, open]));
    const failures: string[] = [];
    for (const trace of index.inquiries.keys()) {
      const open = listed.get(trace);
      const needed = isUndecided(trace, index);
      if (needed && !open?.undecided) failures.push(`${index.stepOf(trace)}: undecided, and not listed`);
      if (!needed && open?.undecided) failures.push(`${index.stepOf(trace)}: listed, and decided`);
      const isLate = index.attempts(trace).some(({ late }) => late !== undefined);
      if (isLate && !open?.attention.includes('lateAnswer')) {
        failures.push(`${index.stepOf(trace)}: answered late, and not listed`);
      }
    }
    return { count: listed.size, failures };
  },
};

function isUndecided(trace: string, index: InquiryIndex): boolean {
  const latest = index.attempts(trace).at(-1);
  if (!latest || index.inquiries.get(trace)?.abandonedAtMs !== undefined) return false;
  const isOpen = HELD_STATES.includes(latest.state) || (latest.state === 'answered' && latest.answerKind !== 'outcome');
  return (
    isOpen &&
    !index
      .decisions(trace)
      .some(
        ({ attempt, action, permitsAttempt, failureType }) =>
          attempt === latest.attempt &&
          (action === 'amend' || permitsAttempt !== undefined) &&
          judgesAttempts(failureType),
      )
  );
}
