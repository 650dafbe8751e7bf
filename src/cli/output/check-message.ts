/**
 * Checks a message before it connects to a server, so that wrong input fails at once, also while the server is down.
 */

import type { ApplicantLimit } from '../../messages/parse-messages.ts';
import { ownerOf } from '../../model/owner-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { asTyped, type GivenOptions, OPTION_NAMES } from './option-names.ts';

const CHECKS = {
  start: 'parseLendingJourneyInput',
  advance: 'parseAdvance',
  extend: 'parseExtend',
  extendShareReport: 'parseExtendShareReport',
  consent: 'parseConsent',
  requestShare: 'parseRequestShare',
  resolveInquiry: 'parseResolveInquiry',
  withdraw: 'parseWithdraw',
  withdrawShare: 'parseWithdrawShare',
  pull: 'parsePullInput',
  resolvePull: 'parseResolvePull',
  withdrawPull: 'parseWithdrawPull',
  portfolio: 'parsePortfolioReviewInput',
  resolvePortfolio: 'parseResolvePortfolio',
  tellPortfolio: 'parsePortfolioMessage',
  shareReport: 'parseShareReportInput',
  resolveShareReport: 'parseResolveShareReport',
  withdrawShareReport: 'parseWithdrawShareReport',
  decision: 'parseDecision',
} as const;

/**
 * @param given the command's options, by which errors name a field
 * @throws InvalidInputError with every problem
 */
export async function checkMessage(
  kind: keyof typeof CHECKS,
  message: unknown,
  given: GivenOptions = {},
): Promise<void> {
  const [parsers, { loadMessageLimits }] = await Promise.all([
    import('../../messages/parse-messages.ts'),
    import('../../config/config.ts'),
  ]);
  const parse: (value: unknown, limit: ApplicantLimit) => unknown = parsers[CHECKS[kind]];
  try {
    parse(message, loadMessageLimits(process.env));
  } catch (error) {
    throw error instanceof InvalidInputError ? asTyped(error, OPTION_NAMES[kind], message, given) : error;
  }
}

/**
 * The same, of a message that every kind of run takes, without its address.
 *
 * @throws InvalidInputError with every problem
 */
export async function checkRunMessage(
  kind: 'resolveInquiry' | 'withdraw',
  ownerId: string,
  message: object,
): Promise<void> {
  const owner = ownerOf(ownerId);
  switch (owner.kind) {
    case 'journey':
      return checkMessage(kind, { ...message, journeyId: owner.id });
    case 'pull':
      return checkMessage(kind === 'withdraw' ? 'withdrawPull' : 'resolvePull', { ...message, pullId: owner.id });
    case 'portfolio':
      return checkMessage(kind === 'withdraw' ? 'tellPortfolio' : 'resolvePortfolio', {
        ...message,
        reviewId: owner.id,
      });
    case 'share':
      return checkMessage(kind === 'withdraw' ? 'withdrawShareReport' : 'resolveShareReport', {
        ...message,
        shareId: owner.id,
      });
  }
}
