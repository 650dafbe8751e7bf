/** Attempts of unknown outcome, held against what the gateway saw of them. */
import type { Evidence, LedgerAttempt } from '../evidence.ts';
import { InquiryIndex } from './inquiry-index.ts';
import type { Invariant } from './invariant.ts';

/** Clocks of ledger, sandbox and proxy are read at different instants of the same event. */
const CLOCK_SLACK_MS = 500;

/**
 * Counts attempts of unknown outcome for which no request reached the gateway: a person was asked without need. Such an
 * attempt is a failure only if its worker lived and no process could have received a byte. That means no connection was
 * open, and no process that started or stopped meanwhile could accept one. The invariant skips attempts during which
 * the process that watches connections stood still.
 */
export const falseAlarms: Invariant = {
  name: 'no attempt is called unknown while no connection was there to send it on',
  judge(evidence) {
    const index = new InquiryIndex(evidence);
    const unknown = evidence.ledger.attempts.filter(({ state }) => state === 'unknown');
    const unheard = unknown.filter((attempt) => !mayHaveCome(attempt, evidence));
    const alone = unheard.filter((attempt) => wasJudgedByWorker(attempt) && !couldConnect(attempt, evidence));
    const watched = alone.filter((attempt) => !wasUnwatched(attempt, evidence));
    const failures = watched.map(
      ({ customerTraceNumber, attempt }) => `${index.stepOf(customerTraceNumber)} attempt ${attempt}`,
    );
    const rate = unknown.length === 0 ? 0 : Math.round((100 * unheard.length) / unknown.length);
    const untold = alone.length - watched.length;
    const remark = `of ${unknown.length} unknown attempts no request came in ${unheard.length} (${rate} %); of ${untold} the wire cannot tell`;
    return { count: unknown.length, failures, remark };
  },
};

/** Under its number; or under none, with a body that never came whole. */
function mayHaveCome({ customerTraceNumber, ...attempt }: LedgerAttempt, { sandbox }: Evidence): boolean {
  return sandbox.requests.some(
    (request) =>
      (request.customerTraceNumber === customerTraceNumber || request.customerTraceNumber === null) &&
      isWithin(request.atMs, attempt),
  );
}

/** The others had no worker left to say what happened. */
function wasJudgedByWorker({ recordedAtMs, httpStatus }: LedgerAttempt): boolean {
  return recordedAtMs !== undefined && httpStatus === undefined;
}

function couldConnect(attempt: LedgerAttempt, { sandbox: { connections, listeningMs } }: Evidence): boolean {
  const isChanging = listeningMs.some((atMs) => isWithin(atMs, attempt));
  const { from, to } = spanOf(attempt);
  return isChanging || connections.some(({ openedMs, closedMs = to }) => openedMs <= to && closedMs >= from);
}

function wasUnwatched(attempt: LedgerAttempt, { sandbox: { standstills } }: Evidence): boolean {
  const { from, to } = spanOf(attempt);
  return standstills.some(({ fromMs, toMs }) => fromMs <= to && toMs >= from);
}

function isWithin(atMs: number, attempt: Pick<LedgerAttempt, 'claimedAtMs' | 'answerByMs' | 'recordedAtMs'>): boolean {
  const { from, to } = spanOf(attempt);
  return atMs >= from && atMs <= to;
}

function spanOf({
  claimedAtMs,
  answerByMs,
  recordedAtMs,
}: Pick<LedgerAttempt, 'claimedAtMs' | 'answerByMs' | 'recordedAtMs'>) {
  return { from: claimedAtMs - CLOCK_SLACK_MS, to: (recordedAtMs ?? answerByMs) + CLOCK_SLACK_MS };
}
