/** Answers with an ETag: a caller that has the same already gets 304, and may wait for another. */
import { createHash } from 'node:crypto';
import { Refusal } from '../http/refusal.ts';
import { toCallerKey } from '../http/request-guard.ts';
import { type Call, Reply } from './route.ts';

type Headers = Pick<Call, 'headers'>;

function toEtag(body: string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

/** Whether `If-None-Match` has it. A weak tag matches, too (RFC 9110, 13.1.2). */
function hasAlready({ headers }: Headers, etag: string): boolean {
  const given = headers['if-none-match'];
  if (given === undefined) return false;
  return given.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

const LONGEST_WAIT_SECONDS = 60;

/** `Prefer: wait=<seconds>` (RFC 7240), at most 60; a preference that cannot be read is passed over. */
function waitSeconds({ headers }: Headers): number {
  const [, seconds] = /(?:^|[,;\s])wait="?(\d{1,6})"?(?:$|[,;\s])/i.exec([headers.prefer ?? ''].flat().join(',')) ?? [];
  return Math.min(Number(seconds ?? 0), LONGEST_WAIT_SECONDS);
}

/** Documents the request headers of each operation with `statusReply`. */
export const STATUS_HEADERS = {
  'If-None-Match': 'An ETag: the answer is 304 while the status is unchanged.',
  Prefer: `\`wait=<seconds>\`, at most ${LONGEST_WAIT_SECONDS}: with If-None-Match, waits for the status to change.`,
} as const;

export interface StatusRun {
  status(options: { signal?: AbortSignal }): Promise<object>;
  watch(options: { signal: AbortSignal }): AsyncIterable<object>;
}

type Asking = Pick<Call, 'headers' | 'services' | 'caller' | 'sending' | 'stopping' | 'giveUpSlot'>;

/**
 * Returns a run's status. If the caller names the status it knows, waits for the next one as long as the caller allows.
 *
 * @throws Refusal 429 where too many callers wait
 */
export async function statusReply(call: Asking, run: StatusRun): Promise<Reply> {
  const { headers, sending } = call;
  const seconds = headers['if-none-match'] === undefined ? 0 : waitSeconds(call);
  const waited = seconds === 0 ? undefined : await waitForNext(call, run, seconds * 1000);
  const status = waited ?? (await run.status({ signal: sending.signal }));
  const etag = toEtag(JSON.stringify(status));
  const own = { etag, ...(seconds === 0 ? {} : { 'preference-applied': `wait=${seconds}` }) };
  return hasAlready(call, etag) ? new Reply(304, { headers: own }) : new Reply(200, { body: status, headers: own });
}

/** Returns the first status that the caller does not have, or the latest one once its time is over. */
async function waitForNext(call: Asking, run: StatusRun, waitMs: number): Promise<object | undefined> {
  const { waiters } = call.services;
  const caller = toCallerKey(call.caller);
  if (!(await waiters.take(caller))) throw new Refusal('waiting');
  call.giveUpSlot();
  let latest: object | undefined;
  try {
    const signal = AbortSignal.any([call.sending.signal, call.stopping, AbortSignal.timeout(waitMs)]);
    for await (const status of run.watch({ signal })) {
      latest = status;
      if (!hasAlready(call, toEtag(JSON.stringify(status)))) break;
    }
  } finally {
    waiters.release(caller);
  }
  return latest;
}
