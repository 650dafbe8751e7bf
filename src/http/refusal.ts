/** Why a request is refused: one closed list for the HTTP API and the codec server, and the error that carries a row of it. */
import type { Problem } from '../model/problems.ts';

interface ProblemForm {
  status: number;
  title: string;
  /** Default: 1 for a 503, otherwise none. */
  retryAfterSeconds?: number;
}

/** Programs branch on the code; a code has one meaning. `docs` and `type` lead to its part of the API's reference page. */
export const PROBLEMS = {
  // The request cannot be read.
  address: { status: 400, title: 'The address is malformed' },
  malformed: { status: 400, title: 'The request is malformed' },
  headers: { status: 400, title: 'The address and the headers are too long' },
  bodyNotTaken: { status: 400, title: 'This operation takes no body' },
  notJson: { status: 400, title: 'The body is not JSON' },
  tooDeep: { status: 400, title: 'The body nests too deep' },
  repeated: { status: 400, title: 'A member is given twice' },
  after: { status: 400, title: 'The place in the list is not valid' },
  attributeMissing: { status: 400, title: 'This installation has no such list' },
  method: { status: 405, title: 'The address does not accept this method' },
  slow: { status: 408, title: 'The request came too slowly' },
  bodyTooLarge: { status: 413, title: 'The body is too large' },
  contentType: { status: 415, title: 'The body must be application/json' },
  // The caller.
  noToken: { status: 401, title: 'A token is needed' },
  tokenMalformed: { status: 401, title: 'The token is not a JWT' },
  expired: { status: 401, title: 'The token has expired' },
  notYetValid: { status: 401, title: 'The token is not valid yet' },
  audience: { status: 401, title: 'The token is for another audience' },
  issuer: { status: 401, title: 'The token is of another issuer' },
  claims: { status: 401, title: 'The token lacks a claim' },
  algorithm: { status: 401, title: 'The token is signed by an algorithm that is not allowed' },
  signature: { status: 401, title: 'The token’s signature is not valid' },
  twoTokens: { status: 401, title: 'The request has more than one token' },
  keySet: { status: 503, title: 'The key set for tokens cannot be read' },
  scope: { status: 403, title: 'The token lacks the scope' },
  by: { status: 403, title: 'The token does not say who acts' },
  reach: { status: 403, title: 'The token does not act for this profile and all of these end users' },
  otherEndUser: { status: 403, title: 'The report is for another end user' },
  proxy: { status: 403, title: 'This server accepts calls only through its proxy' },
  origin: { status: 403, title: 'Pages of this origin may not call this server' },
  crossSite: { status: 403, title: 'Only the page of this server may send this' },
  role: { status: 403, title: 'The token lacks the role' },
  namespace: { status: 403, title: 'The token has no role in the namespace' },
  namespaceMissing: { status: 400, title: 'The request does not name its namespace' },
  // The target of the request.
  notFound: { status: 404, title: 'Nothing has this name' },
  noReport: { status: 404, title: 'The ledger has no such report' },
  noRefusal: { status: 404, title: 'The ledger keeps no body of such a refusal' },
  noChanges: { status: 404, title: 'The ledger has no such list of changes' },
  noJourney: { status: 404, title: 'The ledger has no inquiry of such a journey' },
  disposed: { status: 410, title: 'It was disposed of' },
  invalidInput: { status: 422, title: 'The content breaks rules' },
  // The state of the run.
  idTaken: { status: 409, title: 'This id is taken' },
  differs: { status: 409, title: 'This id was used with other content' },
  decided: { status: 409, title: 'Another decision came first' },
  notOnHold: { status: 409, title: 'Nothing waits for this decision' },
  notListed: { status: 409, title: 'No such row is on the list' },
  inFuture: { status: 409, title: 'A time lies in the future' },
  unproven: { status: 409, title: 'The proof does not count' },
  noLongerCounts: { status: 409, title: 'The grant no longer counts' },
  unknownPart: { status: 409, title: 'The run has no such part' },
  ending: { status: 409, title: 'The run is ending' },
  notNow: { status: 409, title: 'The run does not accept this now' },
  journeyFinished: { status: 409, title: 'The run has finished' },
  shareAfterEnd: { status: 409, title: 'The journey has finished' },
  runFailed: { status: 409, title: 'The run has ended without a result' },
  resultNotReady: { status: 409, title: 'The run has not ended yet' },
  // The server, and the programs behind it.
  rate: { status: 429, title: 'Too many requests at once' },
  waiting: { status: 429, retryAfterSeconds: 5, title: 'Too many callers wait for a change' },
  busy: { status: 503, title: 'Too many requests are waiting' },
  outOfTime: { status: 503, title: 'The request ran out of time' },
  gone: { status: 503, title: 'The caller has disconnected' },
  audit: { status: 503, title: 'The audit log cannot be written' },
  stopping: { status: 503, title: 'The server is stopping' },
  tooManyMessages: { status: 503, retryAfterSeconds: 60, title: 'The run has too many messages at once' },
  workerUnavailable: { status: 503, title: 'No worker answers' },
  temporalUnavailable: { status: 503, title: 'Temporal cannot be reached' },
  ledgerUnavailable: { status: 503, title: 'The ledger cannot be reached' },
  portfolioUnavailable: { status: 503, retryAfterSeconds: 60, title: 'The file cannot be read now' },
  portfolioDirectory: { status: 501, title: 'This API gives out no files' },
  keyUnknown: { status: 503, title: 'A key is not known here yet' },
  keyServiceFailed: { status: 503, title: 'The key service does not answer' },
  closed: { status: 503, title: 'The server is stopping its connections' },
  aborted: { status: 503, title: 'The call was aborted' },
  failed: { status: 500, title: 'The request failed' },
  // The codec server alone.
  tooManyPayloads: { status: 413, title: 'The request has too many payloads' },
  decoded: { status: 413, title: 'The payloads are too large once decoded' },
  redacted: { status: 422, title: 'A masked value cannot be encoded' },
  notEncodable: { status: 422, title: 'The payloads cannot be encoded' },
  unknownKey: { status: 503, retryAfterSeconds: 5, title: 'The key ring lacks the key of a payload' },
} as const satisfies Record<string, ProblemForm>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];

/** Before a program tries again what cannot be answered now. The Temporal UI tries a 503 again by itself. */
const RETRY_SECONDS = 1;

type RefusalParts = Partial<Pick<Refusal, 'problems' | 'retryAfterSeconds' | 'details' | 'headers'>>;

/** Thrown anywhere while a request is handled; `service.ts` makes the answer of it. It never holds a value. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** For the audit log and the caller. */
  readonly reason: ProblemCode;
  readonly problems: readonly Problem[] = [];
  readonly retryAfterSeconds: number | undefined;
  /** Further members of a problem document. */
  readonly details: Readonly<Record<string, unknown>> = {};
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>> = {};

  /** @param message default: the title of the problem, as the end of a sentence */
  constructor(reason: ProblemCode, message?: string, parts: RefusalParts = {}) {
    super(message ?? PROBLEMS[reason].title.replace(/^(?!Temporal)./, (letter) => letter.toLowerCase()));
    const { status, retryAfterSeconds = status === 503 ? RETRY_SECONDS : undefined }: ProblemForm = PROBLEMS[reason];
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
    Object.assign(this, parts);
  }
}
