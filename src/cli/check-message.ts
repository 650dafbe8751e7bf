/** Checks a message before a server is asked for, so that wrong input is told at once, whatever the server's state. */
import type { ApplicantLimit } from '../validation/messages.ts';

const CHECKS = {
  start: 'parseLendingJourneyInput',
  advance: 'parseAdvance',
  consent: 'parseConsent',
  requestShare: 'parseRequestShare',
  resolveInquiry: 'parseResolveInquiry',
  withdraw: 'parseWithdraw',
} as const;

/** @throws InvalidInputError with every problem */
export async function checkMessage(kind: keyof typeof CHECKS, message: unknown): Promise<void> {
  const [parsers, { loadMessageLimits }] = await Promise.all([
    import('../validation/messages.ts'),
    import('../config.ts'),
  ]);
  const parse: (value: unknown, limit: ApplicantLimit) => unknown = parsers[CHECKS[kind]];
  parse(message, loadMessageLimits(process.env));
}
