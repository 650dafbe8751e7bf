/** Checks a decision before it connects to a server, so that wrong input fails at once, also while the server is down. */
import type { Checked } from '../../messages/message.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import { asTyped, type GivenOptions } from './option-names.ts';

const NAMES = {
  ...{ '/journeyId': '<id>', '/pullId': '<id>', '/shareId': '<id>', '/reviewId': '<id>' },
  ...{ '/attempt': '--attempt', '/action': '--action', '/by': '--by', '/reason': '--reason' },
  ...{ '/providerSaid': '--provider-said', '/outcome': '--outcome', '/reference': '--reference' },
  ...{ '/applicants': '--applicants', '/confirmConsumerIds': '--confirm-consumer-ids' },
  ...{ '/decisionId': '--decision-id', '/proof': '--proof' },
};

const TO_RUN = {
  journey: 'resolveInquiry',
  pull: 'resolvePull',
  portfolio: 'resolvePortfolio',
  share: 'resolveShareReport',
} as const;

/**
 * @param given the command's options, by which errors name a field
 * @throws InvalidInputError with every problem
 */
export async function checkDecision(message: unknown, given: GivenOptions = {}): Promise<void> {
  const { decision } = await import('../../messages/resolve-inquiry.ts');
  await checkBy(decision, message, { ...NAMES, '/customerTraceNumber': '--ledger' }, given);
}

/**
 * Checks a decision for a run of any kind, without its address.
 *
 * @throws InvalidInputError with every problem
 */
export async function checkRunDecision(runKey: string, message: object): Promise<void> {
  const { MESSAGES } = await import('../../messages/all-messages.ts');
  const { kind, id } = parseRunKey(runKey);
  const names = { ...NAMES, '/customerTraceNumber': '<customerTraceNumber>' };
  await checkBy(MESSAGES[TO_RUN[kind]], { ...message, [ID_NAMES[kind]]: id }, names, {});
}

async function checkBy(
  definition: Checked,
  message: unknown,
  names: Readonly<Record<string, string>>,
  given: GivenOptions,
): Promise<void> {
  const [{ parseMessage }, { loadVariable }] = await Promise.all([
    import('../../messages/inputs/parse-message.ts'),
    import('../../config/environment.ts'),
  ]);
  try {
    parseMessage(definition, message, { maxApplicants: loadVariable(process.env, 'GATEWAY_MAX_APPLICANTS') });
  } catch (error) {
    throw error instanceof InvalidInputError ? asTyped(error, names, message, given) : error;
  }
}
