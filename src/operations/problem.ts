/** Errors as RFC 9457 has them: `application/problem+json`, with a code that programs branch on and never a value. */
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeDifference } from '../base/differing-paths.ts';
import { CallError, hasCode, TEMPORAL_AWAY, toDifferences } from '../client/connection/errors.ts';
import { PROBLEMS, type ProblemCode, Refusal } from '../http/refusal.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { InvalidInputError } from '../model/problems.ts';
import { PortfolioUnavailableError } from '../portfolio/portfolio-file.ts';

/** Builds the problem document. `id` is that of the request, if there is one. */
export function createProblem({ status, reason, message, problems, details }: Refusal, id: string = randomUUID()) {
  const document = {
    // The code's place on the reference page, as an address of the server itself.
    type: `/v1/reference#problem-${reason}`,
    title: PROBLEMS[reason].title,
    status,
    detail: message,
    code: reason,
    problems: problems.length > 0 ? problems : undefined,
    ...details,
    requestId: id,
  };
  return { type: 'application/problem+json', headers: { 'x-request-id': id }, body: JSON.stringify(document) };
}

export function writeProblem(refusal: Refusal, { id }: FastifyRequest, reply: FastifyReply): void {
  const { type, headers, body } = createProblem(refusal, id);
  // An address that cannot be read comes past all hooks.
  reply.headers(headers).type(type).send(body);
}

/** Translates the project's own errors to refusals over HTTP. Returns `undefined` for any other error. */
export function translateToRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof PortfolioUnavailableError) return new Refusal('portfolioUnavailable');
  if (error instanceof InvalidInputError) {
    const { problems, refusalCause } = error;
    // A consent that is well formed, and does not count now.
    if (refusalCause) return new Refusal(refusalCause, 'the consent does not count: see problems', { problems });
    return new Refusal('invalidInput', undefined, { problems: problems.slice(0, 50) });
  }
  if (hasCode(error, 'updateRefused', 'decisionRefused')) return createMessageRefusal(error);
  if (!(error instanceof CreditJourneyError)) return undefined;
  const problems = error instanceof CallError ? error.problems : [];
  const reason = RENAMED[error.code] ?? error.code;
  return Object.hasOwn(PROBLEMS, reason) ? new Refusal(reason as ProblemCode, undefined, { problems }) : undefined;
}

/** An error whose code is in the list of problems keeps its name there. */
const RENAMED: Readonly<Record<string, ProblemCode>> = {
  ...Object.fromEntries(TEMPORAL_AWAY.map((code) => [code, 'temporalUnavailable'])),
  ledgerRestored: 'ledgerUnavailable',
  writerTooOld: 'ledgerUnavailable',
};

/** @param details further members of the answer */
export function createMessageRefusal(
  { refusalCause = 'notNow', reason, problems }: CallError,
  details: Readonly<Record<string, unknown>> = {},
): Refusal {
  return new Refusal('decided' in details ? 'decided' : refusalCause, reason, { problems, details });
}

/**
 * Returns what the ledger says of a repeated order, without the paths at which the order before differs.
 *
 * @param what was ordered before
 * @throws Refusal where there are such paths
 */
export function refuseDifferent<Verdict extends { paths: readonly string[] }>(
  what: string,
  { paths, ...answer }: Verdict,
) {
  if (paths.length === 0) return answer;
  throw new Refusal('differs', describeDifference(what, paths), { problems: toDifferences(paths) });
}
