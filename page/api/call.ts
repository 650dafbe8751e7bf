/** Requests to the API that serves this page. The session is a cookie or a proxy's: no script sees a token. */
import { answers, isAway } from './reachable.ts';
import type { DecidedBefore, Problem } from './schemas.ts';

const LONGEST_MS = 20_000;

/** The API has answered, with a problem document. */
export class ProblemError extends Error {
  readonly problem: Problem & { decided?: DecidedBefore };

  constructor(problem: Problem & { decided?: DecidedBefore }) {
    super(problem.detail);
    this.problem = problem;
  }

  /** Whether the request may have been carried out all the same. */
  get isUncertain(): boolean {
    return this.problem.status >= 500;
  }
}

/** Nothing usable came back: whether the request arrived is not known. */
export class NoAnswerError extends Error {}

/** Nobody is signed in, or no longer. */
export class SignedOutError extends Error {}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return call<T>('GET', path, { signal });
}

export function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return call<T>('POST', path, { body, signal });
}

interface Sent {
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/**
 * @throws ProblemError, NoAnswerError, SignedOutError
 * @throws DOMException where the signal says so
 */
export async function call<T>(method: string, path: string, { body, signal }: Sent = {}): Promise<T> {
  const response = await sent(method, path, { body, signal });
  // A proxy before the API sends those who are signed out to its own page.
  if (response.type === 'opaqueredirect' || response.status === 401) {
    answers('api');
    throw new SignedOutError('nobody is signed in');
  }
  const text = await response.text().catch(() => noAnswer());
  const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '');
  if (response.status === 204) return undefined as T;
  const answer = isJson ? (JSON.parse(text) as unknown) : noAnswer();
  answers('api');
  if (response.ok) return answer as T;
  const { problem } = new ProblemError(answer as Problem);
  if (problem.code === 'ledgerUnavailable') isAway('ledger');
  throw new ProblemError(problem);
}

async function sent(method: string, path: string, { body, signal }: Sent): Promise<Response> {
  const limit = AbortSignal.timeout(LONGEST_MS);
  try {
    return await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    return noAnswer();
  }
}

function noAnswer(): never {
  isAway('api');
  throw new NoAnswerError('no answer came');
}

/** `/v1/holds?failureType=…`: without what is empty. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** For people: what an error says that no view handles by itself. */
export function wordsOf(error: unknown): string {
  if (error instanceof ProblemError) {
    const { title, detail, problems = [] } = error.problem;
    const places = problems.map(({ path, rule }) => `${path || 'the whole'} ${rule}`).join('; ');
    return `${title}: ${detail}${places ? ` (${places})` : ''}.`;
  }
  return error instanceof NoAnswerError ? 'The API did not answer.' : 'You are signed out.';
}
