/**
 * The client's errors, beside `InvalidInputError` (every path that is wrong) and plain bugs, and how the
 * SDK's errors are translated into them. They carry no text of a server.
 */
import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import {
  ApplicationFailure,
  CancelledFailure,
  NamespaceNotFoundError,
  TerminatedFailure,
  TimeoutFailure,
  ValueError,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { PROBLEMS, type ProblemCode } from '../../http/refusal.ts';
import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';
import type { MessageRefusal, RefusalCause } from '../../model/refusals.ts';
import { type RunKind, runName } from '../../model/run-key.ts';

/** An error about one run. */
abstract class RunError extends CreditJourneyError {
  /** The run key (model/run-key.ts): of a pull `pull:<pullId>`. */
  readonly runKey: string;

  constructor(runKey: string, describe: (run: string) => string) {
    super(describe(runName(runKey)));
    this.runKey = runKey;
  }
}

/** Thrown when Temporal knows no run of this journey: it was never started, or its retention is over. */
export class JourneyNotFoundError extends RunError {
  override readonly code = 'journeyNotFound';

  constructor(runKey: string) {
    super(runKey, (run) => `there is no ${run}`);
  }
}

/** Thrown when the journey has ended: it takes no messages. */
export class JourneyFinishedError extends RunError {
  override readonly code: string = 'journeyFinished';

  constructor(runKey: string) {
    super(runKey, (run) => `${run} has finished`);
  }
}

/** Thrown when a report of an ended journey is to be shared: that takes a share by itself (docs/shares.md). */
export class ShareAfterEndError extends JourneyFinishedError {
  override readonly code = 'shareAfterEnd';

  constructor(journeyId: string) {
    super(journeyId);
    this.message += ': share its report by itself, with `credit-journey share --ended` or `shareReport`';
  }
}

/** Thrown when the journey refused the message in its present state; nothing has changed. */
export class UpdateRefusedError extends RunError {
  override readonly code = 'updateRefused';
  readonly reason: string;
  /** For programs. */
  readonly refusalCause: RefusalCause;

  constructor(runKey: string, { cause, reason }: MessageRefusal) {
    super(runKey, (run) => `${run} refused: ${reason}`);
    this.reason = reason;
    this.refusalCause = cause;
  }
}

/** Thrown when the ledger refuses a decision about an inquiry without a run; nothing was written. */
export class DecisionRefusedError extends CreditJourneyError {
  override readonly code = 'decisionRefused';
  readonly customerTraceNumber: string;
  readonly reason: string;
  /** For programs. */
  readonly refusalCause: RefusalCause;

  constructor(customerTraceNumber: string, { cause, reason }: MessageRefusal) {
    super(`nothing was decided about ${customerTraceNumber}; ${reason}`);
    this.customerTraceNumber = customerTraceNumber;
    this.reason = reason;
    this.refusalCause = cause;
  }
}

/**
 * Thrown when the run ended without a result. `failureType`: `Cancelled`, `Terminated`, `TimedOut`, or the failure's
 * own.
 */
export class JourneyFailedError extends RunError {
  override readonly code = 'journeyFailed';
  readonly failureType: string;

  constructor(runKey: string, failureType: string) {
    super(runKey, (run) => `${run} ended without a result: ${failureType}`);
    this.failureType = failureType;
  }
}

/**
 * Thrown when no worker answered in time. A query has no effect; a message may still arrive, and sending it again does
 * no harm, since each is known by its business key.
 */
export class WorkerUnavailableError extends RunError {
  override readonly code = 'workerUnavailable';

  constructor(runKey: string) {
    super(runKey, (run) => `no worker answered for ${run}: is one running on its task queue?`);
  }
}

/**
 * Thrown when Temporal refuses a message because the run has as many as one run takes. Nothing was accepted. The run
 * hands over to a new one once a worker has handled them: send the message again then.
 */
export class TooManyMessagesError extends RunError {
  override readonly code = 'tooManyMessages';

  constructor(runKey: string) {
    super(runKey, (run) => `${run} has more messages than Temporal accepts at once: send this one again in a minute`);
  }
}

/** Why a connection did not come about; the address follows. */
const UNREACHABLE = {
  addressUnknown: 'no host has the name in',
  connectionRefused: 'nothing answers at',
  timedOut: 'no answer comes in time from',
  tlsFailed: 'TLS fails at',
  tlsExpected: 'TLS is required, and not configured (TEMPORAL_TLS), at',
  unavailable: 'it is away or overloaded at',
};

/** The reason, and what would be right, by what gRPC and OpenSSL say. */
const SIGNS: readonly [sign: RegExp, code: keyof typeof UNREACHABLE, right?: string][] = [
  [/ECONNREFUSED/, 'connectionRefused'],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/, 'addressUnknown'],
  [
    /self-signed|unable to (verify|get)/i,
    'tlsFailed',
    'server_ca_cert_path (TEMPORAL_TLS_SERVER_CA_CERT_PATH) must name its authority',
  ],
  [/altnames/i, 'tlsFailed', 'its certificate must have the name of the address, or server_name be one that it has'],
  [/expired|not yet valid/i, 'tlsFailed', 'its certificate must be valid today'],
  [/alert/i, 'tlsFailed', 'it must trust the client certificate (client_cert_path), which must be valid today'],
  [/wrong version number|packet length/i, 'tlsFailed', 'it must speak TLS'],
  [/KEY_VALUES_MISMATCH/, 'tlsFailed', 'client_key_path must be the key of client_cert_path'],
  [/PEM|ASN1/, 'tlsFailed', 'certificates and key must be PEM'],
  [/certificate|SSL|TLS/i, 'tlsFailed'],
];

/** docs/integrating.md, "Errors", lists what to do about each. */
export type TemporalUnavailableCode = keyof typeof UNREACHABLE;

/** Thrown when Temporal itself cannot be reached, or did not answer in time. */
export class TemporalUnavailableError extends CreditJourneyError {
  override readonly code: TemporalUnavailableCode;

  constructor(what: string, code: TemporalUnavailableCode = 'unavailable', options: { cause?: Error } = {}) {
    super(`Temporal cannot be reached: ${what}`, options);
    this.code = code;
  }
}

const REFUSALS = {
  unauthenticated: 'it does not accept these credentials (TEMPORAL_API_KEY, or the client’s certificate)',
  permissionDenied: 'these credentials may not do this, or have no access to the namespace',
  namespaceNotFound: 'it has no such namespace (TEMPORAL_NAMESPACE)',
  refused: 'the cause has its gRPC status',
};

/**
 * Thrown when Temporal answers and refuses the call: without credentials that it takes (`unauthenticated`), to these
 * credentials (`permissionDenied`), for a namespace that it does not have (`namespaceNotFound`), or for another reason
 * (`refused`).
 */
export class TemporalRefusedError extends CreditJourneyError {
  override readonly code: keyof typeof REFUSALS;

  constructor(code: TemporalRefusedError['code'], options: { cause?: Error } = {}) {
    super(`Temporal refuses the call: ${REFUSALS[code]}`, options);
    this.code = code;
  }
}

/** Thrown when an answer came that this client cannot read: it has no key, or the answer is not of this project's form. */
export class AnswerUnreadableError extends CreditJourneyError {
  override readonly code = 'answerUnreadable';

  constructor() {
    super(
      'the answer cannot be read: it is not JSON, or encoded. If it is encrypted, name a codec server in CODEC_SERVER_URL, or the workers’ key ring in KEY_RING_FILE',
    );
  }
}

/** Thrown by every call that is under way when the client is closed, and by every call after that. */
export class ClientClosedError extends CreditJourneyError {
  override readonly code = 'closed';

  constructor() {
    super('the client was closed');
  }
}

/** Thrown when the caller's `signal` was aborted; `cause` is the signal's reason. A sent message may still arrive. */
export class CallAbortedError extends CreditJourneyError {
  override readonly code = 'aborted';

  constructor(reason: unknown) {
    super('the caller aborted the call', { cause: reason });
  }
}

/** Thrown when the run has not ended within `timeoutMs`. The run continues. */
export class ResultNotReadyError extends RunError {
  override readonly code = 'resultNotReady';

  constructor(runKey: string) {
    super(runKey, (run) => `${run} has not ended within the time given`);
  }
}

/** Thrown when this id is taken by a run with another input or, of a pull, of another product. Nothing was started. */
export class InputDiffersError extends CreditJourneyError {
  override readonly code = 'differs';
  readonly kind: RunKind;
  /** The caller's own id. */
  readonly id: string;
  /** The places where the two inputs differ; members only, if this client may not see all of the first input. */
  readonly problems: readonly Problem[];

  constructor(kind: RunKind, id: string, paths: readonly string[]) {
    const list = paths.map((path) => path || '/').join(', ');
    const run = `${kind === 'portfolio' ? 'portfolio review' : kind} ${id}`;
    super(
      `${run} was started with another input: ${list} ${paths.length > 1 ? 'differ' : 'differs'}; choose another id`,
    );
    this.kind = kind;
    this.id = id;
    this.problems = paths.map((path) => ({
      path,
      rule: 'must be as it was started: choose another id for another input',
    }));
  }
}

const MESSAGES = {
  unreachable:
    'the codec server cannot be reached: is CODEC_SERVER_URL right, and its certificate trusted (CODEC_SERVER_CA_FILE)?',
  busy: 'the codec server is busy: try again',
  tokenMissing:
    'there is no token for the codec server: the file that CODEC_SERVER_TOKEN_FILE names is empty or missing',
  tokenRefused: 'the codec server refuses the token (CODEC_SERVER_TOKEN_FILE)',
  roleTooLow:
    'the token’s roles do not permit this at the codec server: sending needs encode, reading decode or decode-redacted',
  namespaceRefused: 'the token does not permit the namespace of TEMPORAL_NAMESPACE at the codec server',
  keyUnknown: 'the codec server lacks the key that this was encrypted under: its key ring is not the workers’',
  masked: 'a masked value cannot be sent as input: ask for the real value, or enter it again',
  refused: 'the codec server refuses the request',
  tooLarge: 'the payloads are larger than the codec server’s limit',
  unexpected: 'the server at CODEC_SERVER_URL does not answer as a codec server',
};

/** docs/codec-server.md says what each means. */
export type CodecServerErrorCode = keyof typeof MESSAGES;

/** Thrown when the codec server did not do what the client asked. Holds no body, header, address or token. */
export class CodecServerError extends CreditJourneyError {
  override readonly code: CodecServerErrorCode;

  /** @param reason as the server gives it. Others than it knows are left out: an answer may hold anything. */
  constructor(code: CodecServerErrorCode, reason = '') {
    const isKnown = code === 'tokenRefused' && Object.hasOwn(PROBLEMS, reason);
    super(`${MESSAGES[code]}${isKnown ? `: ${PROBLEMS[reason as ProblemCode].title}` : ''}`);
    this.code = code;
  }

  /** Whether the same request may succeed in a moment. */
  get mayPass(): boolean {
    return this.code === 'unreachable' || this.code === 'busy';
  }
}

// Translates the SDK's errors. Bugs pass through.

/** Numbers of gRPC status codes; importing `@grpc/grpc-js` for a few of them would be a dependency more. */
const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The gRPC error that an error is, or that is its cause. */
function findGrpcError(error: unknown) {
  if (isGrpcServiceError(error)) return error;
  return error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : undefined;
}

/** Whether the server ended the call with one of these statuses. */
export function hasStatus(error: unknown, ...statuses: (keyof typeof GRPC)[]): boolean {
  const code = findGrpcError(error)?.code;
  return statuses.some((status) => GRPC[status] === code);
}

/**
 * Messages of the server about the limits of one run: ten updates in flight, 2,000 in all, 10,000 signals, each figure
 * configurable.
 */
const RUN_LIMIT = /limit on (the )?(total )?number of .*updates|execution limit for signal/i;

/** Whether the server refused a message because the run has had as many as it takes. */
export function isAtRunLimit(error: unknown): boolean {
  const mayBe = hasStatus(error, 'invalidArgument', 'resourceExhausted', 'failedPrecondition');
  return mayBe && RUN_LIMIT.test(findGrpcError(error)?.details ?? '');
}

/**
 * Whether the workflow task failed that was to take the message, or ended without an answer to it. A task fails so if
 * the message arrives while the run hands over. In both cases the run has not taken the message.
 */
export function isTaskFailure(error: unknown): boolean {
  return isUnprocessed(error) || (hasStatus(error, 'failedPrecondition') && !isAtRunLimit(error));
}

/** The server's own refusal of an update that a worker had in hand and did not answer; the history has nothing of it. */
function isUnprocessed(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof ApplicationFailure)) return false;
  return error.cause.type === 'UnprocessedUpdate';
}

/** The server is away or overloaded for the moment. */
function isServerAway(error: unknown): boolean {
  return hasStatus(error, 'unavailable', 'resourceExhausted', 'aborted');
}

/** Whether no answer came until the deadline, when the server may be the first to hang up. */
export function isLate(error: unknown): boolean {
  return hasStatus(error, 'deadlineExceeded', 'cancelled');
}

/** Translates the SDK's error of a query, an update, a signal or a start of `runKey`. */
export function translatedError(error: unknown, runKey: string): unknown {
  if (error instanceof CreditJourneyError) return error;
  if (error instanceof NamespaceNotFoundError) return new TemporalRefusedError('namespaceNotFound');
  if (error instanceof WorkflowNotFoundError) return new JourneyNotFoundError(runKey);
  if (isUnprocessed(error)) return new WorkerUnavailableError(runKey);
  if (error instanceof WorkflowUpdateFailedError) return refusal(error, runKey);
  if (error instanceof WorkflowFailedError) return failure(error, runKey);
  if (isAtRunLimit(error)) return new TooManyMessagesError(runKey);
  // The server answers and no worker does. It says so while a workflow task fails, too.
  if (hasStatus(error, 'failedPrecondition') || isLate(error)) return new WorkerUnavailableError(runKey);
  // The server tells each query that failed by this one error; asked again, it may not (run-messages.ts).
  if (error instanceof QueryNotRegisteredError) return new WorkerUnavailableError(runKey);
  if (findGrpcError(error)) return translatedServerError(error);
  // The parser's own message quotes what it parsed.
  if (error instanceof SyntaxError || error instanceof ValueError) return new AnswerUnreadableError();
  if (error instanceof ServiceError) return translatedError(error.cause, runKey);
  return error;
}

/**
 * Translates the SDK's error of a call that is about no run, such as a list: only the server can be away. Other errors
 * pass through.
 */
export function translatedServerError(error: unknown): unknown {
  if (error instanceof CreditJourneyError) return error;
  if (error instanceof NamespaceNotFoundError) return new TemporalRefusedError('namespaceNotFound');
  const status = findGrpcError(error);
  if (!status) return error;
  const cause = harmlessCause(error);
  if (hasStatus(error, 'notFound') && /^namespace\b.*\bnot found/i.test(status.details)) {
    return new TemporalRefusedError('namespaceNotFound', cause);
  }
  if (isLate(error)) return new TemporalUnavailableError('it did not answer in time', 'timedOut', cause);
  if (isServerAway(error)) return serverAway(error);
  if (hasStatus(error, 'unauthenticated')) return new TemporalRefusedError('unauthenticated', cause);
  return new TemporalRefusedError(hasStatus(error, 'permissionDenied') ? 'permissionDenied' : 'refused', cause);
}

/** The server cannot be reached, or says that it cannot now. */
export function serverAway(error: unknown, to?: { address: string; tls?: unknown }): TemporalUnavailableError {
  const words = findGrpcError(error)?.details ?? (error as { code?: string }).code ?? '';
  const [, code, right] = SIGNS.find(([sign]) => sign.test(words)) ?? [null, codeWithoutSign(error, words, to)];
  const what = `${UNREACHABLE[code]} ${to?.address ?? 'its address'}${right === undefined ? '' : `: ${right}`}`;
  return new TemporalUnavailableError(what, code, harmlessCause(error));
}

/** A server that closes a connection before it says anything does not agree on TLS. */
function codeWithoutSign(error: unknown, words: string, to?: { tls?: unknown }): TemporalUnavailableCode {
  if (isLate(error)) return 'timedOut';
  if (!to || !/Failed to connect/.test(words)) return 'unavailable';
  return to.tls ? 'tlsFailed' : 'tlsExpected';
}

/** The status and the system's own code of the error: its text and metadata may hold anything. */
function harmlessCause(error: unknown): { cause?: Error } {
  const { code, details = '' } = findGrpcError(error) ?? {};
  if (code === undefined) return {};
  const systemCode = /\bE(?:CONN|NOTFOUND|AI_AGAIN|HOST|NET|PIPE|TIMEDOUT|PROTO)[A-Z]*\b/.exec(details) ?? [];
  return { cause: new Error([`gRPC status ${code}`, ...systemCode].join(', ')) };
}

function refusal(error: WorkflowUpdateFailedError, runKey: string): unknown {
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure)) return error;
  // The server's own: the run was terminated, say, before it answered.
  if (cause.type === 'AcceptedUpdateCompletedWorkflow') return new JourneyFinishedError(runKey);
  if (cause.type === 'InvalidInput') return invalidInput(cause);
  if (cause.type !== 'UpdateRefused') return error;
  const refusal = cause.details?.[0] as MessageRefusal | undefined;
  return new UpdateRefusedError(runKey, refusal ?? { cause: 'notNow', reason: 'no reason given' });
}

function failure(error: WorkflowFailedError, runKey: string): unknown {
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === 'InvalidInput') return invalidInput(cause);
  return new JourneyFailedError(runKey, toFailureType(cause));
}

function toFailureType(cause: unknown): string {
  if (cause instanceof ApplicationFailure) return cause.type ?? 'Failed';
  if (cause instanceof CancelledFailure) return 'Cancelled';
  if (cause instanceof TerminatedFailure) return 'Terminated';
  if (cause instanceof TimeoutFailure) return 'TimedOut';
  return 'Failed';
}

function invalidInput(cause: ApplicationFailure): InvalidInputError {
  const { problems = [] } = (cause.details?.[0] ?? {}) as { problems?: Problem[] };
  return new InvalidInputError(problems);
}
