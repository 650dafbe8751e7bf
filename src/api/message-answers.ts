/** The answer to every message but a consent: accepted. Where the run stands is in its status, which takes a scope of its own. */
import { z } from 'zod';
import { JourneyFinishedError, JourneyNotFoundError } from '../client/connection/errors.ts';
import type { EndingMessage } from '../ledger/run-decisions.ts';
import { acceptedSchema } from '../messages/journey/shapes.ts';
import type { Call, Reply } from './route.ts';

export const messageAnswerSchema = z.object(acceptedSchema.shape).meta({ id: 'messageAnswer' });

interface Accepted {
  accepted: true;
  duplicate: boolean;
  recorded?: boolean;
}

export function messageReply({ accepted, duplicate, recorded }: Accepted): Reply<200> {
  return { status: 200, body: { accepted, duplicate, ...(recorded === undefined ? {} : { recorded }) } };
}

/**
 * Sends a message that ends a run or takes back a share. The same message is a duplicate after the run's end as before it:
 * the ledger says whether it was taken.
 */
export async function endingReply(
  { services }: Pick<Call, 'services'>,
  message: EndingMessage,
  send: () => Promise<Accepted>,
): Promise<Reply<200>> {
  try {
    return messageReply(await send());
  } catch (error) {
    if (!(error instanceof JourneyFinishedError || error instanceof JourneyNotFoundError)) throw error;
    if (!(await (await services.openLedger()).hasEndingMessage(message))) throw error;
    return messageReply({ accepted: true, duplicate: true, recorded: true });
  }
}
