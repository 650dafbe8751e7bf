/** The answer to every message but a consent: accepted. Where the run stands is in its status, which takes a scope of its own. */
import { z } from 'zod';
import { acceptedSchema } from '../messages/journey/result-schemas.ts';
import type { Reply } from './route.ts';

export const messageAnswerSchema = z.object(acceptedSchema.shape).meta({ id: 'messageAnswer' });

interface Accepted {
  accepted: true;
  duplicate: boolean;
  recorded?: boolean;
}

export function messageReply({ accepted, duplicate, recorded }: Accepted): Reply<200> {
  return { status: 200, body: { accepted, duplicate, ...(recorded === undefined ? {} : { recorded }) } };
}
