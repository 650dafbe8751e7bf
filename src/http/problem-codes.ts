/** Every reason for which a request is refused: one closed list for the HTTP API and the codec server. */

interface ProblemForm {
  title: string;
  /** When it comes, and what to do, where the title does not say. */
  about?: string;
}

/** Programs branch on the code; a code has one meaning. `docs` and `type` lead to its part of the API's reference page. */
export const PROBLEMS = {
  // The request cannot be read.
  address: { title: 'The address is malformed' },
  malformed: { title: 'The request is malformed' },
  headers: { title: 'The address and the headers are too long' },
  bodyNotTaken: { title: 'This operation takes no body' },
  notJson: { title: 'The body is not JSON' },
  tooDeep: { title: 'The body nests too deep' },
  repeated: { title: 'A member is given twice' },
  after: {
    title: 'This is no place in the list',
    about: '`after` must be the `next` of a page before, of the same list.',
  },
  attributeMissing: {
    title: 'This installation has no such list',
    about: 'A search attribute is missing: `credit-journey setup` registers it.',
  },
  method: { title: 'The address does not take this method', about: '`Allow` names those that it takes.' },
  unknownMethod: { title: 'No address takes this method' },
  slow: { title: 'The request came too slowly', about: 'Send the same again.' },
  bodyTooLarge: { title: 'The body is too large' },
  contentType: { title: 'The body must be application/json' },
  // The caller.
  noToken: { title: 'A token is needed' },
  tokenMalformed: { title: 'The token is not a JWT' },
  expired: { title: 'The token has expired' },
  notYetValid: { title: 'The token is not valid yet' },
  audience: { title: 'The token is for another audience' },
  issuer: { title: 'The token is of another issuer' },
  claims: { title: 'The token lacks a claim' },
  algorithm: { title: 'The token is signed by an algorithm that is not allowed' },
  signature: { title: 'The token’s signature is not good', about: 'It was changed, or its key is not in the key set.' },
  twoTokens: { title: 'The request brings more than one token' },
  keySet: { title: 'The key set for tokens cannot be read' },
  scope: { title: 'The token lacks the scope' },
  by: { title: 'The token does not say who acts' },
  reach: { title: 'The token does not act for this profile and all of these end users' },
  otherEndUser: { title: 'The report is for another end user' },
  proxy: { title: 'This server is called through its proxy' },
  origin: { title: 'Pages of this origin may not call' },
  crossSite: { title: 'Only the page of this server may send this' },
  role: { title: 'The token lacks the role' },
  namespace: { title: 'The token does not say for which namespace it calls' },
  // The target of the request.
  notFound: {
    title: 'There is nothing of this name',
    about: 'Or the token does not reach it: the answer is the same.',
  },
  noReport: { title: 'The ledger has no such report' },
  noRefusal: { title: 'The ledger keeps no body of such a refusal' },
  noChanges: { title: 'The ledger has no such list of changes' },
  noJourney: { title: 'The ledger has no inquiry of such a journey' },
  disposed: { title: 'It was disposed of' },
  invalidInput: {
    title: 'The content breaks rules',
    about: '`problems` names each place that is wrong, and the rule.',
  },
  // The state of the run.
  idTaken: { title: 'This id is taken', about: 'By a run that the token does not reach: choose another.' },
  differs: {
    title: 'This id was used with other content',
    about:
      'Of a start, a message or a decision. `problems` names what differs: choose another id, or send the first content again.',
  },
  decided: { title: 'Another decision stands', about: '`decided` says who has decided what, and when.' },
  notOnHold: { title: 'Nothing waits for this decision', about: 'The hold is gone, or is about another attempt.' },
  notListed: { title: 'Nothing of this is on the list' },
  inFuture: { title: 'A time lies in the future', about: 'Clocks may differ by a little, and no more.' },
  unproven: { title: 'The proof does not count', about: 'It is missing, or is not about this very content.' },
  noLongerCounts: {
    title: 'The grant no longer counts',
    about: 'It was ended, spent, too old, or for another share or person: a new grant takes a new `consentId`.',
  },
  unknownPart: { title: 'The run has no such part', about: '`problems` names the member.' },
  ending: { title: 'The run is ending', about: 'It takes nothing that would be sent.' },
  notNow: { title: 'The run does not take this now', about: '`detail` says why.' },
  journeyFinished: { title: 'The run has finished' },
  shareAfterEnd: { title: 'The journey has finished', about: 'Share its report by itself: `POST /v1/shares`.' },
  runFailed: { title: 'The run has ended without a result' },
  resultNotReady: { title: 'The run has not ended yet' },
  // The server, and the programs behind it.
  rate: { title: 'Too many requests at once' },
  waiting: { title: 'Too many callers wait for a change' },
  busy: { title: 'Too many requests are waiting' },
  gone: { title: 'The caller has gone' },
  audit: { title: 'The audit log cannot be written' },
  stopping: { title: 'The server is stopping', about: 'Send it again.' },
  tooManyMessages: { title: 'The run has too many messages at once', about: 'Send it again in a minute.' },
  workerUnavailable: { title: 'No worker answers', about: 'A message may still arrive. Send the same again.' },
  temporalUnavailable: { title: 'Temporal cannot be reached' },
  ledgerUnavailable: { title: 'The ledger cannot be reached' },
  portfolioUnavailable: { title: 'The file cannot be read now' },
  portfolioDirectory: { title: 'This API gives out no files', about: 'It has no `PORTFOLIO_DIR`.' },
  keyUnknown: { title: 'A key is not known here yet' },
  keyServiceFailed: { title: 'The key service does not answer' },
  closed: { title: 'The server is stopping its connections', about: 'Send it again.' },
  aborted: { title: 'The call was given up' },
  failed: { title: 'The request failed', about: 'A bug, or something that was not foreseen.' },
  // The codec server alone.
  reveal: { title: '`reveal` is true or false' },
  tooManyPayloads: { title: 'The request has too many payloads' },
  decoded: { title: 'The payloads are too large once decoded' },
  redacted: { title: 'A masked value cannot be encoded' },
  notEncodable: { title: 'The payloads cannot be encoded' },
  unknownKey: { title: 'The key ring lacks the key of a payload' },
} as const satisfies Record<string, ProblemForm>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/** Returns the code's place on the reference page, as an address of the server itself. */
export function problemAddress(code: ProblemCode): string {
  return `/v1/reference#problem-${code}`;
}
