/**
 * Retries of calls to Temporal, in place of the SDK's own: a call that is cancelled while it waits for its next attempt
 * ends at once. The SDK's goes on, and where the connection was closed meanwhile it throws where no caller can catch it.
 */
import { defaultGrpcRetryOptions, type GrpcRetryOptions, type makeGrpcRetryInterceptor } from '@temporalio/client';
import { isRunLimit } from './error-translation.ts';

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type CallParts = Parameters<Interceptor>;
type InnerCall = ReturnType<CallParts[1]>;
type Metadata = Parameters<InnerCall['start']>[0];
type Listener = NonNullable<Parameters<InnerCall['start']>[1]>;
type Status = Parameters<GrpcRetryOptions['retryableDecider']>[1];

const UNAVAILABLE = 14;
/** How long a call waits for a server that is away, such as one that is being replaced. */
const SERVER_PATIENCE_MS = 10_000;

/** The SDK's rules of what is repeated, and when, but for what a run's limit refuses: it would be refused again. */
export function retries(): Interceptor {
  const rules = defaultGrpcRetryOptions();
  return (options, nextCall) => new RetriedCall(options, nextCall, rules) as unknown as ReturnType<Interceptor>;
}

/** One call, and the attempts that it takes. */
class RetriedCall {
  readonly #options: CallParts[0];
  readonly #nextCall: CallParts[1];
  readonly #rules: GrpcRetryOptions;
  readonly #startedAt = Date.now();
  #attempt = 1;
  #call: InnerCall;
  #request: unknown;
  #answer: unknown;
  /** While it waits for the next attempt. */
  #waiting: { timer: NodeJS.Timeout; finish(as: { code: Status['code']; details: string }): void } | undefined;

  constructor(options: CallParts[0], nextCall: CallParts[1], rules: GrpcRetryOptions) {
    this.#options = options;
    this.#nextCall = nextCall;
    this.#rules = rules;
    this.#call = nextCall(options);
  }

  start(metadata: Metadata, listener: Listener): void {
    this.#call.start(metadata, {
      onReceiveMetadata: (received) => listener.onReceiveMetadata?.(received),
      onReceiveMessage: (message) => {
        this.#answer = message;
      },
      onReceiveStatus: (status) => {
        const waitMs = this.#waitMs(status);
        if (waitMs === null) this.#finish(status, listener);
        else this.#waitFor(waitMs, status, metadata, listener);
      },
    });
  }

  cancelWithStatus(code: Status['code'], details: string): void {
    if (this.#waiting) {
      clearTimeout(this.#waiting.timer);
      this.#waiting.finish({ code, details });
    } else {
      this.#call.cancelWithStatus(code, details);
    }
  }

  sendMessageWithContext(context: Parameters<InnerCall['sendMessageWithContext']>[0], message: unknown): void {
    this.#request = message;
    this.#call.sendMessageWithContext(context, message);
  }

  sendMessage(message: unknown): void {
    this.#request = message;
    this.#call.sendMessage(message);
  }

  startRead(): void {
    this.#call.startRead();
  }

  halfClose(): void {
    this.#call.halfClose();
  }

  getPeer(): string {
    return this.#call.getPeer();
  }

  getAuthContext(): ReturnType<InnerCall['getAuthContext']> {
    return this.#call.getAuthContext();
  }

  /** `null` where the status is final. A call that cannot be repeated in its time keeps the reason why it failed. */
  #waitMs(status: Status): number | null {
    if (isRunLimit(status) || !this.#rules.retryableDecider(this.#attempt, status)) return null;
    const waitMs = this.#rules.delayFunction(this.#attempt, status);
    const at = Date.now() + waitMs;
    if (status.code === UNAVAILABLE && at > this.#startedAt + SERVER_PATIENCE_MS) return null;
    const { deadline } = this.#options;
    return deadline !== undefined && at >= Number(deadline) ? null : waitMs;
  }

  #waitFor(waitMs: number, status: Status, metadata: Metadata, listener: Listener): void {
    const finish = (as: { code: Status['code']; details: string }) => this.#finish({ ...status, ...as }, listener);
    const repeat = () => {
      this.#waiting = undefined;
      this.#attempt++;
      try {
        this.#call = this.#nextCall(this.#options);
      } catch {
        // The connection was closed by its owner.
        this.#finish(status, listener);
        return;
      }
      this.start(metadata, listener);
      this.#call.sendMessage(this.#request);
      this.#call.halfClose();
    };
    this.#waiting = { timer: setTimeout(repeat, waitMs), finish };
  }

  #finish(status: Status, listener: Listener): void {
    this.#waiting = undefined;
    listener.onReceiveMessage?.(this.#answer ?? null);
    listener.onReceiveStatus?.(status);
  }
}
