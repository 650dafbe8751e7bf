/** Calls operations of the API: on the HTTP API that `--api` names, or in this process. */

import { getErrorCode } from '../../base/error-code.ts';
import { parseJson } from '../../base/json-safety.ts';
import { isLoopback } from '../../base/loopback.ts';
import { CallError, isCallErrorCode } from '../../client/connection/errors.ts';
import { parseWith } from '../../fields/problems.ts';
import { PROBLEMS, type ProblemCode, Refusal } from '../../http/refusal.ts';
import type { Loose } from '../../messages/message.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';
import { REFUSAL_CAUSES } from '../../model/refusals.ts';
import { OPERATIONS } from '../../operations/all-operations.ts';
import {
  callLocally,
  checkCall,
  createLedgerServices,
  createLocalServices,
  type LocalCall,
} from '../../operations/local-call.ts';
import { listPathParameters, type Operation } from '../../operations/operation.ts';
import type { Page } from '../../operations/pages.ts';
import type { ApiServices } from '../../operations/services.ts';
import { UsageError } from '../output/errors.ts';
import { readText } from '../output/json-input.ts';
import { readDocument } from '../output/output.ts';
import type { Context } from './command.ts';

/** Options that say where an operation runs. */
export type CallOptions = Partial<Record<'api' | 'tokenFile' | 'by', string>>;

/** `ledger`: works while Temporal is away. Default: works without a ledger of its own. */
export type Needs = 'ledger' | 'both';

/** Returns the body of the answer. A text is JSON already. `runKey`: the run that an error names. */
export type CallOperation = (operationId: string, content: Loose, runKey?: string) => Promise<object | string>;

/** Calls operations, for the life of one command. The first call opens what they need. */
export function createOperations(
  { options, connect, openLedger }: Pick<Context<CallOptions>, 'options' | 'connect' | 'openLedger'>,
  needs?: Needs,
): CallOperation {
  if (options.api !== undefined && options.by !== undefined) {
    throw new UsageError('--by cannot be used with --api: the token says who acts');
  }
  let services: Promise<ApiServices> | undefined;
  const openServices = async () =>
    needs === 'ledger'
      ? createLedgerServices(await openLedger())
      : createLocalServices(await connect({ besideLedger: needs === 'both' }), process.env);
  return async (operationId, content, runKey) => {
    const operation = findOperation(operationId);
    const parts = splitContent(operation, content);
    try {
      if (options.api !== undefined) {
        // The address of a call may end in the logs of others.
        if (operation.query) parseWith(operation.query, parts.query);
        return await callRemotely(operation, parts, options);
      }
      // Before any connection is opened.
      checkCall(operation, parts);
      services ??= openServices();
      return (await callLocally(await services, operation, parts)).body ?? {};
    } catch (error) {
      throw toClientError(error, runKey);
    }
  };
}

/** Reads every page of the rows that the conditions choose, in the list's order. */
export async function* readPages<Row>(call: CallOperation, operationId: string, conditions: Loose) {
  for (let after: string | undefined; ; ) {
    const page = readDocument(await call(operationId, { ...conditions, limit: '200', after })) as Page<Row>;
    yield* page.data;
    if (page.next === undefined) return;
    after = page.next;
  }
}

export function findOperation(operationId: string): Operation {
  const operation = OPERATIONS.find((candidate) => candidate.operationId === operationId);
  if (!operation) throw new Error(`there is no operation ${operationId}`);
  return operation;
}

/** Splits the content into its HTTP parts: path, query, body, and the token, which says who acts. */
function splitContent({ path, query: form }: Operation, { by, ...content }: Loose): LocalCall {
  const parameters: readonly string[] = listPathParameters(path);
  const params = Object.fromEntries(parameters.map((name) => [name, String(content[name])]));
  const others = Object.entries(content).filter(([name, value]) => value !== undefined && !Object.hasOwn(params, name));
  const { query = [], body = [] } = Object.groupBy(others, ([name]) =>
    Object.hasOwn(form?.shape ?? {}, name) ? 'query' : 'body',
  );
  return { params, query: Object.fromEntries(query), body: Object.fromEntries(body), by: by as string | undefined };
}

/** Longer than the API waits for a worker. */
const TIMEOUT_MS = 60_000;

/**
 * Returns the body of the answer, which is JSON.
 *
 * @throws UsageError; Refusal with what the API refuses; Error where nothing that is an API answers
 */
async function callRemotely(
  { method, path, body: form }: Operation,
  { params, query, body }: LocalCall,
  options: CallOptions,
): Promise<string> {
  const address = readAddress(options.api ?? '');
  const token = await readToken(options);
  const url = new URL(address + path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? '')));
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const answer = await fetch(url, {
    method,
    // A redirect could send the token to another server. It is an answer like any other that is not the API's.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { authorization: `Bearer ${token}`, ...(form ? { 'content-type': 'application/json' } : {}) },
    ...(form ? { body: JSON.stringify(body) } : {}),
  }).catch((error: unknown) => {
    const code = error instanceof Error && getErrorCode(error.cause, error.name);
    throw new Error(`the API at ${url.origin} cannot be reached (${code})`);
  });
  const text = await answer.text();
  const document = parseJson(text)?.[0];
  if (typeof document !== 'object' || document === null)
    throw new Error(`${url.origin} is not the HTTP API: its answer (${answer.status}) is not JSON`);
  if (answer.ok) return text;
  const { code, detail, problems } = document as { code?: string; detail?: string; problems?: Problem[] };
  if (!Object.hasOwn(PROBLEMS, code ?? '')) throw new Error(`${url.origin} refuses it (${answer.status})`);
  throw new Refusal(code as ProblemCode, detail ?? '', { problems: problems ?? [] });
}

function readAddress(text: string): string {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  // `dev` and the documents show the API's address with /v1, which each path begins with.
  if (url && isSafe && !url.username && !url.search && !url.hash) return url.href.replace(/(?:\/v1)?\/?$/, '');
  throw new UsageError('--api must be an https address, or an http address of this machine');
}

/** The message names where the token is, and never the token. */
async function readToken({ tokenFile }: CallOptions): Promise<string> {
  const { API_TOKEN_FILE: named, API_TOKEN: token = '' } = process.env;
  const file = tokenFile ?? named;
  const name = tokenFile === undefined ? 'API_TOKEN_FILE' : '--token-file';
  const text = file ? await readText(file, name, 'the API’s token') : token;
  if (/^[\x21-\x7e]+$/.test(text.trim())) return text.trim();
  throw new UsageError('--api needs a token: in the file of --token-file or API_TOKEN_FILE, or in API_TOKEN');
}

/** Converts a refusal of the API into the client's error of the same name. @param runKey absent if the call names no run */
function toClientError(error: unknown, runKey: string | undefined): unknown {
  if (!(error instanceof Error) || error.name !== 'Refusal') return error;
  const { reason: code, problems, message: reason, status } = error as Refusal;
  if (code === 'invalidInput') return new InvalidInputError(problems);
  if (runKey === undefined || status < 404 || status >= 429) return error;
  const refusalCause = REFUSAL_CAUSES.find((cause) => cause === code);
  if (refusalCause) return new CallError('updateRefused', { runKey, refusalCause, reason, problems });
  return isCallErrorCode(code) ? new CallError(code, { runKey, reason, problems }) : Object.assign(error, { runKey });
}
