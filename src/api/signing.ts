/** Signs operators' decisions for the API: over the checked message, in the name that the token gives. */

import { type AdvanceMessage, advance } from '../messages/advance.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import type { MessageOf } from '../messages/message.ts';
import { decision } from '../messages/resolve-inquiry.ts';
import { decisionContent, repeatContent } from '../model/decision-content.ts';
import type { ApiServices } from './services.ts';

type Signing = Pick<ApiServices, 'environment' | 'signer'>;

/**
 * Signs the decision, unless its sender has signed it.
 *
 * @throws InvalidInputError
 */
export async function signDecision(
  { environment, signer }: Signing,
  given: object,
): Promise<MessageOf<typeof decision>> {
  const checked = parseMessage(decision, given);
  if (checked.proof !== undefined || !signer) return checked;
  return { ...checked, proof: await signer.sign(decisionContent(environment, checked)) };
}

/**
 * Only a repeat makes one further inquiry, and is proved as a decision is.
 *
 * @throws InvalidInputError
 */
export async function signAdvance({ environment, signer }: Signing, given: object): Promise<AdvanceMessage> {
  const message = parseMessage(advance, given);
  if (!('repeat' in message) || message.proof !== undefined || !signer) return message;
  return { ...message, proof: await signer.sign(repeatContent(environment, message)) };
}
