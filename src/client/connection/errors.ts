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
import { getErrorCode } from '../../base/error-code.ts';
import { PROBLEMS, type ProblemCode } from '../../http/refusal.ts';
import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import { InvalidInputError, type Problem, parseProblem } from '../../model/problems.ts';
import type { MessageRefusal, RefusalCause } from '../../model/refusals.ts';
import { formatRunName } from '../../model/run-key.ts';

/** Temporal cannot be reached, or does not answer in time. `{address}` is its address, where it is known. */
const UNREACHABLE = {
  addressUnknown: 'Temporal cannot be reached: no host has the name in {address}',
  connectionRefused: 'Temporal cannot be reached: nothing answers at {address}',
  timedOut: 'Temporal cannot be reached: no answer in time from {address}',
  tlsFailed: 'Temporal cannot be reached: TLS fails at {address}',
  tlsExpected: 'Temporal cannot be reached: TLS is required but not configured (TEMPORAL_TLS), at {address}',
  unavailable: 'Temporal cannot be reached: the server is unavailable or overloaded at {address}',
};

type Unreachable = keyof typeof UNREACHABLE;
export const TEMPORAL_AWAY = Object.keys(UNREACHABLE) as Unreachable[];

/** `{about}` is the run by its name, or the inquiry. */
const WORDS = {
  ...UNREACHABLE,
  // Temporal answers, and refuses the call.
  unauthenticated:
    'Temporal refuses the call: it does not accept these credentials (TEMPORAL_API_KEY, or the client’s certificate)',
  permissionDenied: 'Temporal refuses the call: these credentials may not do this, or have no access to the namespace',
  namespaceNotFound: 'Temporal refuses the call: it has no such namespace (TEMPORAL_NAMESPACE)',
  refused: 'Temporal refuses the call: the cause has its gRPC status',
  /** The run was never started, or its retention period has ended. */
  notFound: 'there is no {about}',
  journeyFinished: '{about} has finished',
  shareAfterEnd: '{about} has finished: share its report by itself, with `credit-journey share --ended` or `start`',
  /** The run refuses the message in its present state, and stays unchanged. */
  updateRefused: '{about} refused: {reason}',
  /** The ledger refuses a decision about an inquiry without a run: it has written nothing. */
  decisionRefused: 'nothing was decided about {about}; {reason}',
  runFailed: '{about} ended without a result: {reason}',
  /** The run continues. */
  resultNotReady: '{about} has not ended within the time given',
  /** A message may still arrive. To send it again does no harm: each is known by its business key. */
  workerUnavailable:
    'no worker answered for {about}: is one running on its task queue, or do the run’s tasks fail? `credit-journey doctor` says which',
  /** The server accepted no message. The run continues as new once a worker has handled its messages. */
  tooManyMessages: '{about} has more messages than Temporal accepts at once: send this one again in a minute',
  /** A run with another input or, of a pull, of another product has this id. Nothing was started. */
  differs: '{about} was started with another input: {reason}; choose another id',
  answerUnreadable:
    'the answer cannot be read: it is not JSON, or encoded. If it is encrypted, name a codec server in CODEC_SERVER_URL, or the workers’ key ring in KEY_RING_FILE',
  closed: 'the client was closed',
  /** `cause` is the reason of the caller’s signal. A sent message may still arrive. */
  aborted: 'the caller aborted the call',
};

/** docs/integrating.md, "The TypeScript client", says what to do about each. */
export type CallErrorCode = keyof typeof WORDS;

export function isCallErrorCode(code: string): code is CallErrorCode {
  return Object.hasOwn(WORDS, code);
}

/** Thrown when a call fails: `code` says why. */
export class CallError extends CreditJourneyError {
  override readonly code: CallErrorCode;
  /** The run key (model/run-key.ts) of the run that the call was about: of a pull `pull:<pullId>`. */
  declare readonly runKey?: string;
  /** Present if the ledger refuses a decision. */
  declare readonly customerTraceNumber?: string;
  /**
   * Words without values: of a refusal its rule, of Temporal that is away the address, of a failed run the failure's type
   * (`Cancelled`, `Terminated`, `TimedOut` or its own).
   */
  readonly reason: string = '';
  /** Present if a run or the ledger refuses a message: for programs. */
  declare readonly refusalCause?: RefusalCause;
  /**
   * The places where two inputs or messages differ; members only, if this client may not see all of the first input. If a
   * message is refused for one of its members: that member.
   */
  readonly problems: readonly Problem[] = [];

  constructor(code: CallErrorCode, { cause, ...facts }: CallFacts = {}) {
    const { runKey = '', customerTraceNumber, reason = '' } = facts;
    const words = WORDS[code]
      .replace('{about}', () => customerTraceNumber ?? formatRunName(runKey))
      .replace('{address}', () => reason || 'its address')
      .replace('{reason}', () => reason);
    super(words, cause === undefined ? {} : { cause });
    this.code = code;
    Object.assign(this, facts);
  }
}

type CallFacts = Partial<Omit<CallError, keyof CreditJourneyError>> & ErrorOptions;

/** Whether a call of the client has ended with one of these codes. */
export function hasCode(error: unknown, ...codes: CallErrorCode[]): error is CallError {
  return error instanceof CallError && codes.includes(error.code);
}

/** The problems of content that was accepted otherwise before, at these paths. */
export function toDifferences(paths: readonly string[]): Problem[] {
  return paths.map((path) => ({ path, rule: 'must be as it was accepted before' }));
}

/** The error for a message that a run refuses, or for a decision that the ledger refuses. */
export function toRefusedError(
  about: Pick<CallFacts, 'runKey' | 'customerTraceNumber'>,
  { cause: refusalCause, reason, paths }: MessageRefusal,
  code: 'updateRefused' | 'decisionRefused' = 'updateRefused',
): CallError {
  const problems = paths ? toDifferences(paths) : reason.startsWith('/') ? [parseProblem(reason)] : [];
  return new CallError(code, { ...about, reason, refusalCause, problems });
}

/** Returns the reason and the remedy, derived from the messages of gRPC and OpenSSL. */
const SIGNS: readonly [sign: RegExp, code: Unreachable, right?: string][] = [
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

const CODEC_SERVER_WORDS = {
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
export type CodecServerErrorCode = keyof typeof CODEC_SERVER_WORDS;

/** Thrown when the codec server did not do what the client asked. Holds no body, header, address or token. */
export class CodecServerError extends CreditJourneyError {
  override readonly code: CodecServerErrorCode;

  /** @param cause the server's own code. Others than it knows are left out: an answer may hold anything. */
  constructor(code: CodecServerErrorCode, cause = '') {
    const isKnown = code === 'tokenRefused' && Object.hasOwn(PROBLEMS, cause);
    super(`${CODEC_SERVER_WORDS[code]}${isKnown ? `: ${PROBLEMS[cause as ProblemCode].title}` : ''}`);
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
 * the message arrives while the run continues as new. In both cases the run has not taken the message.
 */
export function isTaskFailure(error: unknown): boolean {
  return (
    isUpdateFailure(error, 'UnprocessedUpdate') || (hasStatus(error, 'failedPrecondition') && !isAtRunLimit(error))
  );
}

/** The server's failure of an update that a run had accepted and did not answer before it closed, as in a reset. */
export function isClosedBeforeAnswer(error: unknown): boolean {
  return isUpdateFailure(error, 'AcceptedUpdateCompletedWorkflow');
}

function isUpdateFailure(error: unknown, type: string): boolean {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === type;
}

/** Whether no answer came until the deadline, when the server may be the first to hang up. */
export function isLate(error: unknown): boolean {
  return hasStatus(error, 'deadlineExceeded', 'cancelled');
}

/** Translates the SDK's error of a query, an update, a signal or a start of `runKey`. */
export function translateCallError(error: unknown, runKey: string): unknown {
  if (error instanceof CreditJourneyError) return error;
  if (error instanceof WorkflowNotFoundError) return new CallError('notFound', { runKey });
  if (error instanceof WorkflowUpdateFailedError || error instanceof WorkflowFailedError) {
    return translateFailure(error, runKey);
  }
  if (isAtRunLimit(error)) return new CallError('tooManyMessages', { runKey });
  // The server answers and no worker does. It says so while a workflow task fails, too. It reports every failed query by
  // `QueryNotRegisteredError`: a repeated query may succeed (run-messages.ts).
  if (hasStatus(error, 'failedPrecondition') || isLate(error) || error instanceof QueryNotRegisteredError) {
    return new CallError('workerUnavailable', { runKey });
  }
  // The parser's own message quotes what it parsed.
  if (error instanceof SyntaxError || error instanceof ValueError) return new CallError('answerUnreadable');
  if (error instanceof ServiceError && !findGrpcError(error)) return translateCallError(error.cause, runKey);
  return translateServerError(error);
}

/**
 * Translates the SDK's error of a call that is about no run, such as a list: only the server can be away. Other errors
 * pass through.
 */
export function translateServerError(error: unknown): unknown {
  if (error instanceof CreditJourneyError) return error;
  if (error instanceof NamespaceNotFoundError) return new CallError('namespaceNotFound');
  const status = findGrpcError(error);
  if (!status) return error;
  const cause = toHarmlessCause(error);
  if (hasStatus(error, 'notFound') && /^namespace\b.*\bnot found/i.test(status.details)) {
    return new CallError('namespaceNotFound', cause);
  }
  if (isLate(error)) return new CallError('timedOut', cause);
  // The server is away or overloaded for the moment.
  if (hasStatus(error, 'unavailable', 'resourceExhausted', 'aborted')) return createUnreachableError(error);
  if (hasStatus(error, 'unauthenticated')) return new CallError('unauthenticated', cause);
  return new CallError(hasStatus(error, 'permissionDenied') ? 'permissionDenied' : 'refused', cause);
}

/** Creates the error of a server that is unreachable or unavailable. */
export function createUnreachableError(error: unknown, to?: { address: string; tls?: unknown }): CallError {
  const words = findGrpcError(error)?.details ?? getErrorCode(error, '');
  // A server that closes the connection at once expects the other TLS setting.
  const closed = to && /Failed to connect/.test(words) ? (to.tls ? 'tlsFailed' : 'tlsExpected') : 'unavailable';
  const other = isLate(error) ? 'timedOut' : closed;
  const [, code, right] = SIGNS.find(([sign]) => sign.test(words)) ?? [null, other];
  // Without a port it may be an API key that was put in the address's place.
  const address = to && /:\d+$/.test(to.address) ? to.address : 'its address';
  const reason = `${address}${right === undefined ? '' : `: ${right}`}`;
  return new CallError(code, { reason, ...toHarmlessCause(error) });
}

/** The status and the system's own code of the error: its text and metadata may hold anything. */
function toHarmlessCause(error: unknown): { cause?: Error } {
  const { code, details = '' } = findGrpcError(error) ?? {};
  if (code === undefined) return {};
  const systemCode = /\bE(?:CONN|NOTFOUND|AI_AGAIN|HOST|NET|PIPE|TIMEDOUT|PROTO)[A-Z]*\b/.exec(details) ?? [];
  return { cause: new Error([`gRPC status ${code}`, ...systemCode].join(', ')) };
}

/** Translates the failure of a run, or of an update to it. */
function translateFailure(error: WorkflowFailedError | WorkflowUpdateFailedError, runKey: string): unknown {
  const { cause } = error;
  const { type, details } = cause instanceof ApplicationFailure ? cause : {};
  if (type === 'InvalidInput') return new InvalidInputError((details?.[0] as { problems?: Problem[] })?.problems ?? []);
  if (error instanceof WorkflowFailedError) {
    const kinds = { Cancelled: CancelledFailure, Terminated: TerminatedFailure, TimedOut: TimeoutFailure };
    const [kind = 'Failed'] = Object.entries(kinds).find(([, Failure]) => cause instanceof Failure) ?? [];
    return new CallError('runFailed', { runKey, reason: type ?? kind });
  }
  // A worker had received the update and did not answer it. The history has no event of it.
  if (type === 'UnprocessedUpdate') return new CallError('workerUnavailable', { runKey });
  if (isClosedBeforeAnswer(error)) return new CallError('journeyFinished', { runKey });
  if (type !== 'UpdateRefused') return error;
  const refusal = details?.[0] as MessageRefusal | undefined;
  return toRefusedError({ runKey }, refusal ?? { cause: 'notNow', reason: 'no reason given' });
}
