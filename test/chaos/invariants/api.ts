/** "What is answered 2xx is in Temporal or in the ledger", and what docs/http-api.md promises of repeats and of foreign tokens. */
import { isDeepStrictEqual } from 'node:util';
import { ID_NAMES, parseRunKey, parseWorkflowId, toWorkflowId } from '../../../src/model/run-key.ts';
import type { Evidence, RunEvidence } from '../evidence.ts';
import type { ApiAnswer } from '../evidence-api.ts';
import type { Invariant } from './invariant.ts';

/** Server, ledger and callers are on one machine; the clocks of two databases are read apart. */
const CLOCK_SLACK_MS = 5;
const LEDGER_SLACK_MS = 500;

export const answeredIsKept: Invariant = {
  name: 'what the API answered with 2xx is in Temporal or in the ledger, as it was sent, and was there by then',
  judge(evidence) {
    const { answers = [] } = evidence.api ?? {};
    const runs = Map.groupBy(evidence.runs, ({ workflowId }) => workflowId);
    const failures = answers.flatMap((answer) => {
      const { runKey, message, key } = answer;
      const problem = problemOf(answer, runs.get(toWorkflowId(runKey)) ?? [], evidence);
      return problem === undefined ? [] : [`${runKey} ${message === 'start' ? message : key}: ${problem}`];
    });
    const duplicates = answers.filter(({ said }) => said.duplicate).length;
    return { count: answers.length, failures, remark: `${duplicates} answered as duplicates` };
  },
};

function problemOf(answer: ApiAnswer, runs: readonly RunEvidence[], evidence: Evidence): string | undefined {
  const { message, said } = answer;
  if (message === 'start') return startProblem(answer, runs);
  if (said.recorded === true) {
    const problem = ledgerProblem(answer, evidence);
    if (problem !== undefined) return problem;
  }
  const isInLedgerAlone = said.heldBy === 'ledger' || (message === 'recordConsent' && said.recorded === true);
  return isInLedgerAlone ? undefined : messageProblem(answer, runs, evidence);
}

function startProblem({ atMs, body }: ApiAnswer, runs: readonly RunEvidence[]): string | undefined {
  const starts = runs.filter(({ start }) => start?.isOwnStart);
  if (starts.length === 0) return 'answered, and there is no run';
  const before = starts.filter(({ startedAtMs }) => startedAtMs <= atMs + CLOCK_SLACK_MS);
  if (before.length === 0) return 'answered before Temporal had it';
  return before.some(({ start }) => holds(start?.input, body)) ? undefined : 'the run has another input';
}

function messageProblem(answer: ApiAnswer, runs: readonly RunEvidence[], { runs: all }: Evidence): string | undefined {
  const { atMs, message, key, body, runKey } = answer;
  const known = runs
    .flatMap(({ messages = [] }) => messages)
    .filter(({ name, updateId }) => name === message && keyOf(updateId) === key);
  if (known.length === 0) {
    // A consent without an open run has a workflow of its own.
    const isLate = all.some(({ workflowId }) => workflowId.startsWith(`late-consent-${runKey}-`));
    return message === 'recordConsent' && isLate ? undefined : 'answered, and is in no history';
  }
  const before = known.filter((one) => one.atMs <= atMs + CLOCK_SLACK_MS);
  if (before.length === 0) return 'answered before Temporal had it';
  return before.some(({ content }) => holds(content, withoutPath(body, runKey))) ? undefined : 'was kept as another';
}

/** Finds why the ledger lacks a message that was answered as recorded. */
function ledgerProblem({ message, runKey, body, atMs }: ApiAnswer, { ledger }: Evidence): string | undefined {
  const asked = body as Record<string, unknown>;
  const isLate = (recordedAtMs: number) => recordedAtMs > atMs + LEDGER_SLACK_MS;
  if (message === 'recordConsent') {
    const names = ['shareId', 'applicantId', 'consentId', 'decision'] as const;
    const row = ledger.consents.find((one) => one.journeyId === runKey && names.every((it) => one[it] === asked[it]));
    if (!row) return 'answered as recorded, and is not in the ledger';
    return isLate(row.recordedAtMs) ? 'answered before the ledger had it' : undefined;
  }
  if (message === 'resolveInquiry') {
    const row = ledger.decisions.find(
      (one) => one.decisionId === asked.decisionId && one.customerTraceNumber === asked.customerTraceNumber,
    );
    if (!row) return 'answered as recorded, and is not in the ledger';
    return isLate(row.recordedAtMs) ? 'answered before the ledger had it' : undefined;
  }
  return undefined;
}

/** A consent is whole in the body; of any other message the path has the run's id. */
function withoutPath(body: object, runKey: string): object {
  const { [ID_NAMES[parseRunKey(runKey).kind]]: _, ...rest } = body as Record<string, unknown>;
  return rest;
}

/** Tells whether the other value has every member that was sent, unchanged. */
function holds(kept: unknown, sent: object): boolean {
  if (kept === null || typeof kept !== 'object') return false;
  return Object.entries(sent).every(([name, value]) =>
    isDeepStrictEqual((kept as Record<string, unknown>)[name], value),
  );
}

/** The business key of an update's id: without the message's own id, and without the run's that may follow it. */
function keyOf(updateId: string): string {
  return updateId.replace(/(-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}){1,2}$/, '');
}

/** May be said again and again, with an effect each time. */
const REPEATABLE: readonly string[] = ['pause', 'resume'];
/** Runs that may be started again under their id. */
const RESTARTABLE: readonly string[] = ['FAILED', 'TERMINATED', 'TIMED_OUT', 'CANCELLED'];

export const appliedOnce: Invariant = {
  name: 'what is sent again is not applied twice: neither a start nor a message',
  judge({ runs, api }) {
    if (!api) return { count: 0, failures: [] };
    const failures: string[] = [];
    let count = 0;
    const byRunId = new Map(runs.map((run) => [run.runId, run]));
    for (const run of runs) {
      const applied = messagesOf(run, byRunId).filter(({ isApplied, name }) => isApplied && !REPEATABLE.includes(name));
      for (const [key, times] of Map.groupBy(applied, ({ updateId }) => keyOf(updateId))) {
        count++;
        if (times.length > 1) failures.push(`${run.workflowId} ${key}: applied ${times.length} times`);
      }
    }
    // Workers start deliveries of events, and the runs to which another run leaves work, whenever there is work.
    const asked = runs.filter(({ workflowId }) => parseWorkflowId(workflowId) !== null);
    for (const [workflowId, all] of Map.groupBy(asked, (run) => run.workflowId)) {
      const starts = all.filter(({ start }) => start?.isOwnStart);
      const inTurn = starts.toSorted((one, other) => one.startedAtMs - other.startedAtMs);
      count += inTurn.length;
      for (const { startedAtMs, runId } of inTurn.slice(1)) {
        const before = all
          .filter(
            (run) =>
              run.runId !== runId && (run.closedAtMs ?? Number.POSITIVE_INFINITY) <= startedAtMs + CLOCK_SLACK_MS,
          )
          .toSorted((one, other) => (one.closedAtMs ?? 0) - (other.closedAtMs ?? 0))
          .at(-1);
        if (!before || !RESTARTABLE.includes(before.status))
          failures.push(`${workflowId}: started ${starts.length} times`);
      }
    }
    return { count, failures };
  },
};

/** Includes those of the runs before its continue-as-new. */
function messagesOf(run: RunEvidence, byRunId: ReadonlyMap<string, RunEvidence>): NonNullable<RunEvidence['messages']> {
  const before = byRunId.get(run.continuedFrom ?? '');
  return [...(before ? messagesOf(before, byRunId) : []), ...(run.messages ?? [])];
}

export const foreignLooksUnknown: Invariant = {
  name: 'what a token does not reach looks unknown to it',
  judge({ api }) {
    const { foreign = [] } = api ?? {};
    const failures = foreign
      .filter(({ looksUnknown }) => !looksUnknown)
      .map(({ runKey, what, status }) => `${runKey}: ${what} was answered with ${status}`);
    return { count: foreign.length, failures: [...new Set(failures)] };
  },
};
