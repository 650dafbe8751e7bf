/** Answers with an ETag: a caller that has the same already gets 304, and may wait for another. */
import { callerKey } from '../../http/request-guard.ts';
import type { Call, Reply } from '../route.ts';
import { toEtag } from './status-feeds.ts';

type Headers = Pick<Call, 'headers'>;

/** Whether `If-None-Match` has it. A weak tag matches, too (RFC 9110, 13.1.2). */
function hasAlready({ headers }: Headers, etag: string): boolean {
  const given = headers['if-none-match'];
  if (given === undefined) return false;
  return given.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

function taggedReply(call: Headers, body: object): Reply<200 | 304> {
  const etag = toEtag(body);
  return hasAlready(call, etag) ? { status: 304, headers: { etag } } : { status: 200, body, headers: { etag } };
}

const LONGEST_WAIT_SECONDS = 60;

/** `Prefer: wait=<seconds>` (RFC 7240), at most 60; a preference that cannot be read is passed over. */
function waitSeconds({ headers }: Headers): number {
  const [, seconds] = /(?:^|[,;\s])wait="?(\d{1,6})"?(?:$|[,;\s])/i.exec([headers.prefer ?? ''].flat().join(',')) ?? [];
  return Math.min(Number(seconds ?? 0), LONGEST_WAIT_SECONDS);
}

/** Documents the request headers of each operation with `statusReply`. */
export const STATUS_HEADERS = {
  'If-None-Match': 'An ETag: 304 where the status is still that one.',
  Prefer: `\`wait=<seconds>\`, at most ${LONGEST_WAIT_SECONDS}: beside If-None-Match, waits for another status.`,
} as const;

interface StatusRun {
  runKey: string;
  status(options: { signal?: AbortSignal }): Promise<object>;
  watch(options: { signal: AbortSignal }): AsyncIterable<object>;
}

type Waiting = Pick<Call, 'headers' | 'services' | 'caller' | 'signal' | 'stopping' | 'giveUpSlot'>;

/**
 * Returns a run's status. If the caller names the status it knows, waits for the next one as long as the caller allows.
 */
export async function statusReply(call: Waiting, run: StatusRun): Promise<Reply<200 | 304>> {
  const { headers, services, caller, signal, stopping, giveUpSlot } = call;
  const seconds = headers['if-none-match'] === undefined ? 0 : waitSeconds(call);
  if (seconds === 0) return taggedReply(call, await run.status({ signal }));
  giveUpSlot();
  const waiting = { caller: callerKey(caller), waitMs: seconds * 1000, signal: AbortSignal.any([signal, stopping]) };
  const found = await services.feeds.next(run, (etag) => hasAlready(call, etag), waiting);
  const reply = taggedReply(call, found?.status ?? (await run.status({ signal })));
  return { ...reply, headers: { ...reply.headers, 'preference-applied': `wait=${seconds}` } };
}
