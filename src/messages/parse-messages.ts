/**
 * Checks every message from outside, as the client, the CLI and `prepareJourney` do. Each function returns the message
 * in its normal form (ZIP codes apart, states in capitals) or throws `InvalidInputError` with all problems at once:
 * JSON pointers and rules, never values. Unknown fields and `null` are refused everywhere. The workflow itself judges
 * what depends on a journey's state.
 */
import type { ZodType } from 'zod';
import { isRecord } from '../base/is-record.ts';
import { applicantsSchema, failsafeApplicantsSchema } from '../fields/applicant-schemas.ts';
import {
  consentProblems,
  extendProblems,
  lendingJourneyProblems,
  passGateProblems,
  requestShareProblems,
  resolveInquiryProblems,
  shareReportProblems,
} from '../fields/cross-rules.ts';
import { parseWith } from '../fields/problems.ts';
import { perMaximum } from '../fields/request-schemas.ts';
import type { Applicant, FailsafeApplicant } from '../model/applicant.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import {
  journeySchemas,
  lendingJourneySchema,
  passGateSchema,
  repeatStageSchema,
  resolveInquirySchema,
} from './journey/schemas.ts';
import type {
  AdvanceMessage,
  ConsentMessage,
  ExtendMessage,
  LendingJourneyInput,
  RequestShareMessage,
  ResolveInquiryMessage,
  WithdrawMessage,
  WithdrawShareMessage,
} from './journey/shapes.ts';
import { portfolioSchemas, resolvePortfolioSchema } from './portfolio/schemas.ts';
import type { PortfolioMessage, PortfolioReviewInput, ResolvePortfolioMessage } from './portfolio/shapes.ts';
import {
  creditReportSchema,
  decisionSchema,
  failsafeCheckSchema,
  resolvePullSchema,
  withdrawPullSchema,
} from './pull/schemas.ts';
import type {
  CreditReportInput,
  FailsafeCheckInput,
  PullInput,
  ResolvePullMessage,
  WithdrawPullMessage,
} from './pull/shapes.ts';
import { shareReportSchemaFor, shareReportSchemas } from './share/schemas.ts';
import type {
  ExtendShareReportMessage,
  ResolveShareReportMessage,
  ShareReportInput,
  WithdrawShareReportMessage,
} from './share/shapes.ts';

/** A profile's limit (interface 8: typically 1 to 2). */
export interface ApplicantLimit {
  maxApplicants: number;
}

const { consent, extend, requestShare, withdraw, withdrawShare } = journeySchemas();
const { message: portfolioMessage, review } = portfolioSchemas();
const { extendShareReport, resolveShareReport, withdrawShareReport } = shareReportSchemas();
const withdrawPull = withdrawPullSchema();

// Building a schema costs far more than using it, and a process meets one or two limits.
const applicants = perMaximum(applicantsSchema);
const failsafeApplicants = perMaximum(failsafeApplicantsSchema);
const lendingJourney = perMaximum((maximum) => lendingJourneySchema(applicants(maximum)));
const passGate = perMaximum((maximum) => passGateSchema(applicants(maximum)));
const repeatStage = perMaximum((maximum) => repeatStageSchema(applicants(maximum)));
const resolveInquiry = perMaximum((maximum) => resolveInquirySchema(applicants(maximum)));
const resolvePortfolio = perMaximum((maximum) => resolvePortfolioSchema(applicants(maximum)));
const creditReport = perMaximum((maximum) => creditReportSchema(applicants(maximum)));
const failsafeCheck = perMaximum((maximum) => failsafeCheckSchema(failsafeApplicants(maximum)));
const resolvePull = perMaximum((maximum) => resolvePullSchema(failsafeApplicants(maximum)));
const decision = perMaximum((maximum) => decisionSchema(failsafeApplicants(maximum)));

/** Input of the workflow `lendingJourney`. */
export function parseLendingJourneyInput(value: unknown, limit: ApplicantLimit): LendingJourneyInput {
  return parse(lendingJourney(limit.maxApplicants), value, lendingJourneyProblems);
}

/** Input of the workflow `creditReport`. */
export function parseCreditReportInput(value: unknown, limit: ApplicantLimit): CreditReportInput {
  return parse(creditReport(limit.maxApplicants), value);
}

/** Input of the workflow `failsafeCheck`. */
export function parseFailsafeCheckInput(value: unknown, limit: ApplicantLimit): FailsafeCheckInput {
  return parse(failsafeCheck(limit.maxApplicants), value);
}

/** Input of either pull workflow, by its product. An unknown product gets the problems of a report's input. */
export function parsePullInput(value: unknown, limit: ApplicantLimit): PullInput {
  const isFailsafe = isRecord(value) && value.productCode === 'FAILSAFE';
  return isFailsafe ? parseFailsafeCheckInput(value, limit) : parseCreditReportInput(value, limit);
}

/** A pull's `resolveInquiry`. The run itself knows which product's table the applicants of `amend` must follow. */
export function parseResolvePull(value: unknown, limit: ApplicantLimit): ResolvePullMessage {
  return parse(resolvePull(limit.maxApplicants), value, resolveInquiryProblems);
}

/** A decision by itself, for any kind of run. */
export function parseDecision(value: unknown, limit: ApplicantLimit): Omit<ResolvePullMessage, 'pullId'> {
  return parse(decision(limit.maxApplicants), value, resolveInquiryProblems);
}

/** A pull's `withdraw` and `requestWithdrawal`. */
export function parseWithdrawPull(value: unknown): WithdrawPullMessage {
  return parse(withdrawPull, value);
}

/** Input of the workflow `portfolioReview`. A worker checks the content of the file. */
export function parsePortfolioReviewInput(value: unknown): PortfolioReviewInput {
  return parse(review, value);
}

/** A review's `pause`, `resume`, `withdraw` and `requestWithdrawal`. */
export function parsePortfolioMessage(value: unknown): PortfolioMessage {
  return parse(portfolioMessage, value);
}

/** A review's `resolveInquiry`. */
export function parseResolvePortfolio(value: unknown, limit: ApplicantLimit): ResolvePortfolioMessage {
  return parse(resolvePortfolio(limit.maxApplicants), value, resolveInquiryProblems);
}

/** Input of the workflow `shareReport`. */
export function parseShareReportInput(value: unknown): ShareReportInput {
  return parse<ShareReportInput>(
    shareReportSchemaFor(isRecord(value) ? value.report : undefined),
    value,
    shareReportProblems,
  );
}

/** `resolveInquiry` of a share at any time. */
export function parseResolveShareReport(value: unknown): ResolveShareReportMessage {
  return parse(resolveShareReport, value, resolveInquiryProblems);
}

/** `withdraw` and `requestWithdrawal` of a share at any time. */
export function parseWithdrawShareReport(value: unknown): WithdrawShareReportMessage {
  return parse(withdrawShareReport, value);
}

/** `extend` of a share at any time. */
export function parseExtendShareReport(value: unknown): ExtendShareReportMessage {
  return parse(extendShareReport, value);
}

/** `extend` of a journey. */
export function parseExtend(value: unknown): ExtendMessage {
  return parse(extend, value, extendProblems);
}

/** `consent` and `recordConsent`. */
export function parseConsent(value: unknown): ConsentMessage {
  return parse(consent, value, consentProblems);
}

export function parseAdvance(value: unknown, limit: ApplicantLimit): AdvanceMessage {
  // One member says which form is meant, so that the problems are those of one form and not of both.
  if (isRecord(value) && value.repeat !== undefined) return parse(repeatStage(limit.maxApplicants), value);
  return parse(passGate(limit.maxApplicants), value, passGateProblems);
}

/** `withdraw` and `requestWithdrawal`. */
export function parseWithdraw(value: unknown): WithdrawMessage {
  return parse(withdraw, value);
}

export function parseWithdrawShare(value: unknown): WithdrawShareMessage {
  return parse(withdrawShare, value);
}

export function parseRequestShare(value: unknown): RequestShareMessage {
  return parse(requestShare, value, requestShareProblems);
}

export function parseResolveInquiry(value: unknown, limit: ApplicantLimit): ResolveInquiryMessage {
  return parse(resolveInquiry(limit.maxApplicants), value, resolveInquiryProblems);
}

/** A list of applicants by itself; paths are under `/applicants`. */
export function parseApplicants(value: unknown, limit: ApplicantLimit): Applicant[] {
  return parseWith(applicants(limit.maxApplicants), value, '/applicants');
}

/** FAILSAFE's applicants by themselves; paths are under `/applicants`. */
export function parseFailsafeApplicants(value: unknown, limit: ApplicantLimit): FailsafeApplicant[] {
  return parseWith(failsafeApplicants(limit.maxApplicants), value, '/applicants');
}

function parse<T>(
  schema: ZodType<T>,
  value: unknown,
  crossRules: (value: Record<string, unknown>) => Problem[] = () => [],
): T {
  const crossProblems = isRecord(value) ? crossRules(value) : [];
  try {
    const parsed = parseWith(schema, value);
    if (crossProblems.length === 0) return parsed;
  } catch (error) {
    if (error instanceof InvalidInputError) throw new InvalidInputError([...error.problems, ...crossProblems]);
    throw error;
  }
  throw new InvalidInputError(crossProblems);
}
