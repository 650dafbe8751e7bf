/**
 * The permitted content of a log line: an allow-list of fields, messages without values, and the origin of an error.
 */
import { types } from 'node:util';
import { mayHoldSsn } from '../model/opaque-id.ts';
import { parseWorkflowId } from '../model/run-key.ts';

/** Ids, names, counts and figures, none of them personal. All other fields are dropped. */
const ALLOWED_FIELDS = [
  'sdkComponent',
  'target',
  'taskQueue',
  'namespace',
  'journeyId',
  'workflowId',
  'runId',
  'workflowType',
  'activityId',
  'activityType',
  'attempt',
  'customerTraceNumber',
  'productCode',
  'inquiryAttempt',
  'outcome',
  'returnCode',
  'failureType',
  'httpStatus',
  'durationMs',
  'recorded',
  'state',
  'profile',
  'environment',
  'keyId',
  'keyUse',
  'ageDays',
  'missing',
  'traceId',
  'spanId',
  'durability',
  'finding',
  'deploymentName',
  'buildId',
];

/** Each field, and the form of its name that the SDK's native core, and its traces, use: `workflow_id`. */
const NAMES = ALLOWED_FIELDS.map(
  (name) => [name, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] as const,
);

const MAX_TEXT = 200;

/** The permitted fields of a line. A run's lines get its run key as `journeyId`. */
export function pickFields(meta: object): Record<string, unknown> {
  const given = meta as Record<string, unknown>;
  const fields: Record<string, unknown> = {};
  for (const [name, ofCore] of NAMES) putScalar(fields, name, given[name] ?? given[ofCore]);
  const { workflowId } = fields;
  const runKey = typeof workflowId === 'string' ? parseWorkflowId(workflowId) : null;
  if (runKey !== null) fields.journeyId ??= runKey;
  const error = given.error ?? given.err;
  if (isError(error)) fields.error = toErrorFields(error);
  return fields;
}

/** Puts a scalar. Drops objects under any field name, since their content is unknown. */
function putScalar(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (typeof value === 'number' || typeof value === 'boolean') fields[name] = value;
  if (typeof value === 'string') fields[name] = withoutSsn(value.slice(0, MAX_TEXT));
}

/** Returns our own constant message, without the parts that could quote a value. */
export function cutMessage(message: unknown): string {
  return cut(message, /["{\n]/);
}

/** The SDK appends values and whole tasks to its messages. Only the words before the first sign of one are kept. */
export function cutForeignMessage(message: unknown): string {
  return cut(message, /[:"'`{[(<=\n]|\d{4,}/);
}

function cut(message: unknown, end: RegExp): string {
  if (typeof message !== 'string') return '';
  return withoutSsn((message.split(end, 1)[0] ?? '').slice(0, MAX_TEXT).trimEnd());
}

/** Masks SSNs. Our own ids are checked on acceptance, but runs of other programs may have any id. */
function withoutSsn(text: string): string {
  return mayHoldSsn(text) ? '(not shown)' : text;
}

const SAFE_WORD = /^[A-Za-z][\w.:-]{0,63}$/;
/** Deep enough for `WorkflowFailedError`, `ActivityFailure`, `ApplicationFailure`. */
const MAX_CAUSES = 5;

/** The permitted description of an error: its class, its failure type or code, and where it was thrown. No message. */
export function toErrorFields(error: unknown): Record<string, unknown> {
  if (!isError(error)) return { name: typeof error };
  return {
    name: SAFE_WORD.test(error.name) ? error.name : 'Error',
    code: readWord(error, 'code'),
    type: findType(error),
    at: findThrownAt(error),
  };
}

function isError(value: unknown): value is Error {
  // Not `instanceof`: errors of workflow code come from another realm.
  return types.isNativeError(value) || value instanceof Error;
}

function readWord(error: Error, name: 'code' | 'type'): string | number | undefined {
  const value = (error as { code?: unknown; type?: unknown })[name];
  const isSafe = typeof value === 'number' || (typeof value === 'string' && SAFE_WORD.test(value));
  return isSafe ? value : undefined;
}

/** The failure type is often that of the cause. */
function findType(error: Error): string | number | undefined {
  let at: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && isError(at); depth++) {
    const type = readWord(at, 'type');
    if (type !== undefined) return type;
    at = at.cause;
  }
  return undefined;
}

/** Finds the first frame. The stack begins with the message, which may have lines that look like a frame. */
function findThrownAt({ stack, message }: Error): string | undefined {
  const start = typeof stack === 'string' ? stack.indexOf(message) : -1;
  const frames = start < 0 ? '' : stack?.slice(start + message.length);
  return /^\s+at .*?([\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$/m.exec(frames ?? '')?.[1];
}
