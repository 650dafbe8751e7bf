/**
 * Checks a message before it connects to a server, so that wrong input fails at once, also while the server is down.
 */

import type { Checked } from '../../messages/message.ts';
import { ID_NAMES, ownerOf } from '../../model/owner-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { asTyped, type GivenOptions, OPTION_NAMES } from './option-names.ts';

type CheckedKind = keyof typeof OPTION_NAMES;

async function findDefinition(kind: CheckedKind): Promise<Checked> {
  const [{ MESSAGES }, { decision }] = await Promise.all([
    import('../../messages/all-messages.ts'),
    import('../../messages/resolve-inquiry.ts'),
  ]);
  const definitions: Record<CheckedKind, Checked> = { ...MESSAGES, decision };
  return definitions[kind];
}

/**
 * @param given the command's options, by which errors name a field
 * @throws InvalidInputError with every problem
 */
export async function checkMessage(kind: CheckedKind, message: unknown, given: GivenOptions = {}): Promise<void> {
  const [definition, { parseMessage }, { loadMessageLimits }] = await Promise.all([
    findDefinition(kind),
    import('../../messages/inputs/parse-message.ts'),
    import('../../config/config.ts'),
  ]);
  try {
    parseMessage(definition, message, loadMessageLimits(process.env));
  } catch (error) {
    throw error instanceof InvalidInputError ? asTyped(error, OPTION_NAMES[kind], message, given) : error;
  }
}

const OF_ANY_RUN = {
  resolveInquiry: {
    journey: 'resolveInquiry',
    pull: 'resolvePull',
    portfolio: 'resolvePortfolio',
    share: 'resolveShareReport',
  },
} as const;

/**
 * The same, of a message that every kind of run takes, without its address.
 *
 * @throws InvalidInputError with every problem
 */
export async function checkRunMessage(name: keyof typeof OF_ANY_RUN, ownerId: string, message: object): Promise<void> {
  const { kind, id } = ownerOf(ownerId);
  return checkMessage(OF_ANY_RUN[name][kind], { ...message, [ID_NAMES[kind]]: id });
}
