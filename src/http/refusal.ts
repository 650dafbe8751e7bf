/** Why a request is answered with an error: a status, a code that programs branch on, and never a value. */
import type { Problem } from '../model/problems.ts';
import type { ProblemCode } from './problem-codes.ts';

/** The `code` of every error answer; `docs/codec-server.md` has the codec server's table. */
type RefusalCode =
  | 'BadRequest'
  | 'Unauthenticated'
  | 'Forbidden'
  | 'NotFound'
  | 'Gone'
  | 'TooLarge'
  | 'UnsupportedMediaType'
  | 'NotEncodable'
  | 'TooManyRequests'
  | 'UnknownKey'
  | 'Unavailable'
  | 'MethodNotAllowed'
  | 'NotImplemented'
  | 'Conflict'
  | 'Invalid'
  | 'Slow'
  | 'Failed';

/** Thrown anywhere while a request is handled; `server.ts` makes the answer of it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: RefusalCode;
  /** For the audit log and the caller, such as `expired` or `role`. */
  readonly reason: ProblemCode;
  readonly problems: readonly Problem[];
  readonly retryAfterSeconds: number | undefined;
  /** Further members of a problem document. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: RefusalCode,
    reason: ProblemCode,
    message: string,
    more: {
      problems?: readonly Problem[];
      retryAfterSeconds?: number;
      details?: Readonly<Record<string, unknown>>;
      headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.reason = reason;
    this.problems = more.problems ?? [];
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.details = more.details ?? {};
    this.headers = more.headers ?? {};
  }

  /** The answer's body. */
  get body(): object {
    return {
      error: {
        code: this.code,
        reason: this.reason,
        message: this.message,
        ...(this.problems.length > 0 ? { problems: this.problems } : {}),
      },
    };
  }
}

export function badRequest(reason: ProblemCode, message: string, problems: readonly Problem[] = []): Refusal {
  return new Refusal(400, 'BadRequest', reason, message, { problems });
}

export function createUnauthenticated(reason: ProblemCode, message: string): Refusal {
  return new Refusal(401, 'Unauthenticated', reason, message);
}

export function forbidden(reason: ProblemCode, message: string): Refusal {
  return new Refusal(403, 'Forbidden', reason, message);
}

export function notFound(): Refusal {
  return new Refusal(404, 'NotFound', 'notFound', 'there is nothing at this address');
}

/** It was destroyed for good: the caller need not ask again. */
export function gone(message: string): Refusal {
  return new Refusal(410, 'Gone', 'disposed', message);
}

/** The Temporal UI tries a 503 again by itself, and nothing of the 400s. */
export function unavailable(reason: ProblemCode, message: string): Refusal {
  return new Refusal(503, 'Unavailable', reason, message, { retryAfterSeconds: 1 });
}
