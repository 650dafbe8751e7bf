/** Runs an operation on an HTTP API: a request replaces the call in this process. */
import type { LocalCall } from '../../api/local-call.ts';
import type { Route } from '../../api/route.ts';
import { getErrorCode } from '../../base/error-code.ts';
import { isLoopback } from '../../base/loopback.ts';
import { PROBLEMS, type ProblemCode, Refusal } from '../../http/refusal.ts';
import type { Problem } from '../../model/problems.ts';
import { UsageError } from '../output/errors.ts';
import { readText } from '../output/json-input.ts';

export interface RemoteOptions {
  api?: string;
  tokenFile?: string;
}

/** Longer than the API waits for a worker. */
const TIMEOUT_MS = 60_000;

/**
 * Returns the body of the answer, which is JSON.
 *
 * @throws UsageError; Refusal with what the API refuses; Error where nothing that is an API answers
 */
export async function callRemotely(
  { method, path, body: form }: Route,
  { params = {}, query = {}, body = {} }: LocalCall,
  options: RemoteOptions,
): Promise<string> {
  const address = readAddress(options.api ?? '');
  const token = await readToken(options);
  const url = new URL(address + path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? '')));
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const answer = await fetch(url, {
    method,
    // A redirect could send the token to another server.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { authorization: `Bearer ${token}`, ...(form ? { 'content-type': 'application/json' } : {}) },
    ...(form ? { body: JSON.stringify(body) } : {}),
  }).catch((error: unknown) => {
    const code = error instanceof Error && (getErrorCode(error.cause) ?? error.name);
    throw new Error(`the API at ${url.origin} cannot be reached (${code})`);
  });
  const text = await answer.text();
  const document = parseDocument(text);
  if (document === undefined) throw new Error(`${url.origin} is no API: its answer (${answer.status}) is not JSON`);
  if (answer.ok) return text;
  const { code, detail, problems } = document as { code?: string; detail?: string; problems?: Problem[] };
  if (!Object.hasOwn(PROBLEMS, code ?? '')) throw new Error(`${url.origin} refuses it (${answer.status})`);
  throw new Refusal(code as ProblemCode, detail ?? '', { problems: problems ?? [] });
}

function readAddress(text: string): string {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url && isSafe && !url.username && !url.search && !url.hash) return url.href.replace(/\/$/, '');
  throw new UsageError('--api must be an https address, or an http address of this machine');
}

/** The message names where the token is, and never the token. */
async function readToken({ tokenFile = process.env.API_TOKEN_FILE }: RemoteOptions): Promise<string> {
  const text = tokenFile ? await readText(tokenFile, '--token-file') : (process.env.API_TOKEN ?? '');
  if (/^[\x21-\x7e]+$/.test(text.trim())) return text.trim();
  throw new UsageError('--api needs a token: in the file of --token-file or API_TOKEN_FILE, or in API_TOKEN');
}

function parseDocument(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
