/** Queries and messages to a run that may be busy, and the ids of messages. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  QueryNotRegisteredError,
  QueryRejectedError,
  type WorkflowClientInterceptor,
  type WorkflowHandle,
} from '@temporalio/client';
import proto from '@temporalio/proto';
import type { ClosedState } from '../../messages/journey/shapes.ts';
import { isAtRunLimit, isTaskFailure } from './errors.ts';

/** Several tries in a row may meet a busy run between two workflow tasks. */
const MAX_TRIES = 8;
const PAUSE_MS = 50;

/**
 * Queries a run, again where a worker refuses the query. A worker refuses one that comes between two tasks of the run (`workflows/run/as-replayed.ts`). The server
 * reports every failed query by `QueryNotRegisteredError`, so this also repeats a query that does not exist.
 */
export async function askRun<Answer>(
  handle: Pick<WorkflowHandle, 'query'>,
  name: string,
  signal?: AbortSignal,
  ...args: unknown[]
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await handle.query<Answer, unknown[]>(name, ...args);
    } catch (error) {
      if (!(error instanceof QueryNotRegisteredError) || tries === MAX_TRIES) throw error;
    }
    await sleep(PAUSE_MS * tries, undefined, signal && { signal });
  }
}

const { QueryRejectCondition, WorkflowExecutionStatus } = proto.temporal.api.enums.v1;

/** How Temporal closed a run that could not say so. */
const CLOSED: Readonly<Partial<Record<number, ClosedState>>> = {
  [WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED]: 'terminated',
  [WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TIMED_OUT]: 'timedOut',
};

/**
 * The `state` of a run that was terminated says so. Its worker answers as the run was before, and does not know. Temporal
 * says how a run has closed where it may refuse the query, so only the query of such a run is sent twice.
 */
export const sayHowClosed: WorkflowClientInterceptor = {
  async query(input, next) {
    try {
      const queryRejectCondition = QueryRejectCondition.QUERY_REJECT_CONDITION_NOT_COMPLETED_CLEANLY;
      return await next({ ...input, queryRejectCondition });
    } catch (error) {
      if (!(error instanceof QueryRejectedError)) throw error;
      const state = CLOSED[error.status];
      const answer = (await next(input)) as object;
      return input.queryType === 'status' && state ? { ...answer, state } : answer;
    }
  },
};

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 1_000;

/** A run that continues as new while messages arrive may fail a few tasks; one that always fails has a bug. */
const MOST_TASK_FAILURES = 6;

/**
 * Sends until the run takes the message, `patienceMs` are over or the signal is aborted. The message keeps its id, so
 * the run takes it once.
 *
 * @throws what `send` throws
 */
export async function sendPatiently<T>(send: () => Promise<T>, patienceMs: number, signal: AbortSignal): Promise<T> {
  const endsAt = performance.now() + patienceMs;
  let taskFailures = 0;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await send();
    } catch (error) {
      const mayPass = isAtRunLimit(error) || (isTaskFailure(error) && ++taskFailures < MOST_TASK_FAILURES);
      if (!mayPass || performance.now() + waitMs >= endsAt) throw error;
      await sleep(waitMs, undefined, { signal });
    }
  }
}

/**
 * One update id for each message: the server answers a second call under it as it answered the first, a refusal too. A
 * corrected message has another.
 */
export function toUpdateId(businessKey: string, messageId: string = randomUUID()): string {
  return `${businessKey}-${messageId}`;
}

/** The prefix of the ids of all late consents of a journey; 16 hex digits follow. */
export function toLateConsentIdPrefix(journeyId: string): string {
  return `late-consent-${journeyId}-`;
}

/** Names the workflow of one late message. The ledger compares the message with the one it has under the same key. */
export function toLateConsentWorkflowId(journeyId: string, messageId: string = randomUUID()): string {
  return `${toLateConsentIdPrefix(journeyId)}${createHash('sha256').update(messageId).digest('hex').slice(0, 16)}`;
}
