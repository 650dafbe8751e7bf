/** The API's signature under what a person decides: under the message as it is checked, by the name in the token. */

import type { AdvanceMessage } from '../../messages/journey/shapes.ts';
import { parseAdvance, parseDecision } from '../../messages/parse-messages.ts';
import { decisionContent, repeatContent } from '../../model/decision-content.ts';
import type { ApiServices } from '../services.ts';

type Signing = Pick<ApiServices, 'environment' | 'maxApplicants' | 'signer'>;

/**
 * Unless whoever decides has signed it.
 *
 * @throws InvalidInputError
 */
export async function signedDecision(
  { environment, maxApplicants, signer }: Signing,
  given: object,
): Promise<ReturnType<typeof parseDecision>> {
  const decision = parseDecision(given, { maxApplicants });
  if (decision.proof !== undefined || !signer) return decision;
  return { ...decision, proof: await signer.sign(decisionContent(environment, decision)) };
}

/**
 * Only a repeat makes one further inquiry, and is proved as a decision is.
 *
 * @throws InvalidInputError
 */
export async function signedAdvance(
  { environment, maxApplicants, signer }: Signing,
  given: object,
): Promise<AdvanceMessage> {
  const message = parseAdvance(given, { maxApplicants });
  if (!('repeat' in message) || message.proof !== undefined || !signer) return message;
  return { ...message, proof: await signer.sign(repeatContent(environment, message)) };
}
