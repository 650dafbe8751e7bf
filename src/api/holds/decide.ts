/** Decisions over HTTP: about one hold, the same about many, and a preview of their effect. */
import { z } from 'zod';
import { DecisionRefusedError, UpdateRefusedError } from '../../client/connection/errors.ts';
import { Refusal } from '../../http/refusal.ts';
import { HOLD_ACTIONS, type HoldAction } from '../../model/failure-types.ts';
import type { ProviderSaid } from '../../model/provider-word.ts';
import {
  type Decided,
  type DecisionMade,
  decideMany,
  type EarlierDecision,
  previewMany,
} from '../../operator/decide.ts';
import { causeIn, refusalOfError, refusedMessage, unknownRun } from '../problem.ts';
import { isReached, untilNextStep } from '../reach.ts';
import type { Call } from '../route.ts';
import { signedDecision } from './signing.ts';

const decidedSchema = z
  .object({
    decisionId: z.string(),
    action: z.string(),
    by: z.string(),
    at: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'decidedBefore', description: 'The decision about this attempt that was recorded first.' });

export interface NamedInquiry {
  runKey: string;
  customerTraceNumber: string;
  attempt: number;
}

export interface SameDecision {
  decisionId: string;
  action: HoldAction;
  providerSaid: ProviderSaid;
  reason: string;
  outcome?: 'noRecord' | 'noReport';
}

const inquiryFields = { runKey: z.string(), customerTraceNumber: z.string(), attempt: z.int().min(1) };
const why = {
  code: z.string().exactOptional().meta({ description: 'The code of the problem document, if nothing was decided.' }),
  detail: z.string().exactOptional(),
  decided: decidedSchema.exactOptional(),
};

export const decidedSchemaOfOne = z.object({
  ...inquiryFields,
  result: z.enum(['decided', 'duplicate', 'refused', 'failed']).meta({
    description: 'refused: nothing was decided. failed: the outcome is not known; send the same again.',
  }),
  recorded: z.boolean().exactOptional().meta({ description: 'Whether the ledger has the decision.' }),
  ...why,
});

export const decidedSameSchema = z.object({ inquiries: z.array(decidedSchemaOfOne) }).meta({ id: 'decidedMany' });

export const previewSchema = z
  .object({
    decidable: z.int().min(0).meta({ description: 'How many would be decided.' }),
    inquiries: z.array(
      z.object({
        ...inquiryFields,
        decidable: z.boolean(),
        reason: z.string().exactOptional().meta({ description: 'The reason of the hold.' }),
        heldBy: z.enum(['run', 'ledger']).exactOptional(),
        allowedActions: z.array(z.enum([...HOLD_ACTIONS, 'seen'])).exactOptional(),
        ...why,
      }),
    ),
  })
  .meta({ id: 'decisionPreview' });

type Asking = Pick<Call, 'services' | 'caller' | 'sending' | 'startedAt'>;

/**
 * @param runKey the caller reaches it
 * @param given the message, with who decides by the token
 * @throws InvalidInputError; Refusal 409 with who has decided before; 404
 */
export async function decideOne(
  { services, sending }: Pick<Call, 'services' | 'sending'>,
  runKey: string,
  given: object,
): Promise<DecisionMade> {
  const prepare = async () => ({ decision: await signedDecision(services, given), options: sending });
  const [decided] = await decideMany(services.journeys, [{ runKey }], prepare);
  if (decided && 'made' in decided) return decided.made;
  throw decided ? translateRefusal(decided) : new Error('nothing was decided');
}

/** Adds the earlier decision to a refusal, for the second of two operators. */
function translateRefusal({ error, earlier }: { error: Error; earlier?: EarlierDecision }): Error {
  if (!(error instanceof UpdateRefusedError || error instanceof DecisionRefusedError)) return error;
  return refusedMessage(error.reason, earlier ? { decided: earlier } : {});
}

export async function decideSame(
  asking: Asking,
  { decision, inquiries }: { decision: SameDecision & { by: string }; inquiries: readonly NamedInquiry[] },
): Promise<z.infer<typeof decidedSameSchema>> {
  const { services } = asking;
  const check = createCheck(asking);
  const decided = await decideMany(services.journeys, inquiries, async ({ runKey, customerTraceNumber, attempt }) => {
    const options = await check(runKey);
    return { decision: await signedDecision(services, { ...decision, customerTraceNumber, attempt }), options };
  });
  return { inquiries: decided.map(describeDecided) };
}

/** Describes the result of one decision of many. */
export function describeDecided(decided: Decided<NamedInquiry>): z.infer<typeof decidedSchemaOfOne> {
  const { runKey, customerTraceNumber, attempt } = decided;
  const named = { runKey, customerTraceNumber, attempt };
  if ('made' in decided) {
    const { duplicate, recorded } = decided.made;
    return { ...named, result: duplicate ? 'duplicate' : 'decided', recorded };
  }
  const { status, code, detail } = explain(translateRefusal(decided));
  return { ...named, result: status >= 500 ? 'failed' : 'refused', code, detail, ...nameEarlier(decided) };
}

export async function previewSame(
  asking: Asking,
  { decision, inquiries }: { decision: SameDecision; inquiries: readonly NamedInquiry[] },
): Promise<z.infer<typeof previewSchema>> {
  const check = createCheck(asking);
  const judged = await previewMany(asking.services.journeys, inquiries, async (named) => {
    await check(named.runKey);
    return { ...decision, ...named };
  });
  return {
    decidable: judged.filter(({ problem }) => problem === null).length,
    inquiries: judged.map((verdict) => {
      const { runKey, customerTraceNumber, attempt, hold, problem } = verdict;
      const named = { runKey, customerTraceNumber, attempt, decidable: problem === null };
      if (problem instanceof Error) {
        const { code, detail } = explain(problem);
        return { ...named, code, detail };
      }
      const about = hold && {
        reason: hold.reason,
        heldBy: hold.heldBy,
        allowedActions: [...hold.allowedActions],
      };
      if (problem === null) return { ...named, ...about };
      const code = 'earlier' in verdict ? 'decided' : causeIn(problem);
      return { ...named, ...about, code, detail: problem, ...nameEarlier(verdict) };
    }),
  };
}

function nameEarlier(decision: { earlier?: EarlierDecision }): { decided?: EarlierDecision } {
  return decision.earlier ? { decided: decision.earlier } : {};
}

class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** For all of them: callers and proxies give up after a minute or less. */
const LONGEST_MS = 25_000;

/** Checks that there is time left for one of many, and that the caller reaches its run: the same answer as for an unknown one. */
function createCheck(asking: Asking): (runKey: string) => Promise<Call['sending']> {
  const { sending } = asking;
  const endsAt = performance.now() + LONGEST_MS;
  return async (runKey) => {
    const leftMs = Math.floor(endsAt - performance.now());
    if (leftMs < 1) throw new OutOfTimeError('the others took too long: send it again');
    if (!(await isReached(asking, runKey))) {
      // The answer takes whole steps, as any refusal.
      await untilNextStep(asking);
      throw unknownRun();
    }
    return { ...sending, timeoutMs: Math.min(sending.timeoutMs, leftMs) };
  };
}

/** @throws what is no refusal: a bug */
function explain(error: Error): { status: number; code: string; detail: string } {
  if (error instanceof OutOfTimeError) return { status: 503, code: 'outOfTime', detail: error.message };
  const refusal = error instanceof Refusal ? error : refusalOfError(error);
  if (!refusal) throw error;
  return { status: refusal.status, code: refusal.reason, detail: refusal.message };
}
