/** The same decision about many inquiries, each judged by itself: a preview, and the deed. */
import { z } from 'zod';
import { inParallel } from '../../base/in-parallel.ts';
import { decisionProblem } from '../../client/holds/decision-problem.ts';
import { heldByRun, type OpenHold } from '../../client/holds/open-hold.ts';
import { isRunOpen, leftBehind } from '../../client/holds/rows-as-holds.ts';
import { Refusal } from '../../http/refusal.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import { HOLD_ACTIONS, type HoldAction } from '../../model/failure-types.ts';
import { workflowIdOf } from '../../model/owner-id.ts';
import type { ProviderSaid } from '../../model/provider-word.ts';
import { causeIn, refusalOfError } from '../problem.ts';
import { isReached, untilNextStep } from '../reach.ts';
import type { Call } from '../route.ts';
import { decide } from './decide.ts';
import { type DecidedBefore, decidedBefore, decidedSchema } from './decided-before.ts';
import { isOwnOf } from './own-inquiry.ts';

export interface NamedInquiry {
  ownerId: string;
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

const inquiryFields = { ownerId: z.string(), customerTraceNumber: z.string(), attempt: z.int().min(1) };
const why = {
  code: z.string().exactOptional().meta({ description: 'As a problem document’s, where it was not decided.' }),
  detail: z.string().exactOptional(),
  decided: decidedSchema.exactOptional(),
};

export const decidedSameSchema = z
  .object({
    inquiries: z.array(
      z.object({
        ...inquiryFields,
        result: z.enum(['decided', 'duplicate', 'refused', 'failed']).meta({
          description: 'refused: nothing was decided. failed: it is not known; the same again tells.',
        }),
        recorded: z.boolean().exactOptional().meta({ description: 'Whether the ledger has the decision.' }),
        ...why,
      }),
    ),
  })
  .meta({ id: 'decidedMany' });

export const previewSchema = z
  .object({
    decidable: z.int().min(0).meta({ description: 'How many would be decided.' }),
    inquiries: z.array(
      z.object({
        ...inquiryFields,
        decidable: z.boolean(),
        reason: z.string().exactOptional().meta({ description: 'Of the hold.' }),
        heldBy: z.enum(['run', 'ledger']).exactOptional(),
        allowedActions: z.array(z.enum([...HOLD_ACTIONS, 'seen'])).exactOptional(),
        ...why,
      }),
    ),
  })
  .meta({ id: 'decisionPreview' });

const AT_ONCE = 8;

/** For all of them: callers and proxies give up after a minute or less. */
const LONGEST_MS = 25_000;

type Asking = Pick<Call, 'services' | 'caller' | 'signal' | 'sending' | 'startedAt'>;

export async function decideMany(
  asking: Asking,
  { decision, inquiries }: { decision: SameDecision & { by: string }; inquiries: readonly NamedInquiry[] },
): Promise<z.infer<typeof decidedSameSchema>> {
  const { services } = asking;
  const timeLeft = inTime(asking);
  return {
    inquiries: await inParallel(inquiries, AT_ONCE, async (named) => {
      const { ownerId, customerTraceNumber, attempt } = named;
      const sending = timeLeft();
      if (!sending) return { ...named, result: 'failed' as const, ...OUT_OF_TIME };
      try {
        if (!(await isReachedInSteps(asking, ownerId))) return { ...named, result: 'refused' as const, ...UNKNOWN };
        const given = { ...decision, customerTraceNumber, attempt };
        const { duplicate, recorded } = await decide(services, { ownerId, given, sending });
        return { ...named, result: duplicate ? ('duplicate' as const) : ('decided' as const), recorded };
      } catch (error) {
        const { status, reason, message, details } = knownRefusal(error);
        const { decided } = details as { decided?: DecidedBefore };
        const result = status >= 500 ? ('failed' as const) : ('refused' as const);
        return { ...named, result, code: reason, detail: message, ...(decided ? { decided } : {}) };
      }
    }),
  };
}

/** Where the caller does not reach it, the answer takes whole steps, as any refusal. */
async function isReachedInSteps(asking: Asking, ownerId: string): Promise<boolean> {
  const isOurs = await isReached(asking, ownerId);
  if (!isOurs) await untilNextStep(asking);
  return isOurs;
}

/** The same for an id that nobody knows and for a run that the token does not reach. */
const UNKNOWN = { code: 'notFound', detail: 'there is nothing of this name' };

const OUT_OF_TIME = { code: 'outOfTime', detail: 'the others took too long: send it again' };

/** What one of many may take as long as there is time for another; `undefined` then. */
function inTime({ sending }: Pick<Asking, 'sending'>): () => Call['sending'] | undefined {
  const endsAt = performance.now() + LONGEST_MS;
  return () => {
    const leftMs = Math.floor(endsAt - performance.now());
    return leftMs < 1 ? undefined : { ...sending, timeoutMs: Math.min(sending.timeoutMs, leftMs) };
  };
}

/** @throws what is no refusal: a bug */
function knownRefusal(error: unknown): Refusal {
  const refusal = error instanceof Refusal ? error : refusalOfError(error);
  if (!refusal) throw error;
  return refusal;
}

export async function previewMany(
  asking: Asking,
  { decision, inquiries }: { decision: SameDecision; inquiries: readonly NamedInquiry[] },
): Promise<z.infer<typeof previewSchema>> {
  // A review may have all of them.
  const holdsOf = new Map<string, Promise<OpenHold[]>>();
  const timeLeft = inTime(asking);
  const judged = await inParallel(inquiries, AT_ONCE, async (named) => {
    const { ownerId, customerTraceNumber, attempt } = named;
    const sending = timeLeft();
    if (!sending) return { ...named, decidable: false, ...OUT_OF_TIME };
    if (!(await isReachedInSteps(asking, ownerId))) return { ...named, decidable: false, ...UNKNOWN };
    if (!holdsOf.has(ownerId)) holdsOf.set(ownerId, runHolds({ ...asking, sending }, ownerId));
    try {
      const ofRun = (await holdsOf.get(ownerId)) ?? [];
      const hold =
        ofRun.find((one) => one.customerTraceNumber === customerTraceNumber) ??
        (await leftInLedger(asking, ownerId, customerTraceNumber));
      const problem = hold ? decisionProblem(hold, { ...decision, attempt }) : 'nothing waits for a decision about it';
      if (hold && problem === null) {
        const { reason, heldBy, allowedActions } = hold;
        return { ...named, decidable: true, reason, heldBy, allowedActions };
      }
      const about = { customerTraceNumber, attempt, decisionId: '' };
      const decided = await decidedBefore(asking.services, ownerId, about, 1);
      return {
        ...named,
        decidable: false,
        ...(hold ? { reason: hold.reason, heldBy: hold.heldBy, allowedActions: hold.allowedActions } : {}),
        ...{ code: decided ? 'decided' : causeIn(problem ?? ''), detail: problem ?? '' },
        ...(decided ? { decided } : {}),
      };
    } catch (error) {
      const { reason: code, message: detail } = knownRefusal(error);
      return { ...named, decidable: false, code, detail };
    }
  });
  return { decidable: judged.filter(({ decidable }) => decidable).length, inquiries: judged };
}

/** A run that has ended shows its last holds still: nobody decides there. */
async function runHolds({ services, sending }: Asking, ownerId: string): Promise<OpenHold[]> {
  if (!(await isRunOpen(services.client, workflowIdOf(ownerId)))) return [];
  const { holds } = await services.journeys.run(ownerId).status(sending);
  return holds.map((hold: HoldStatus) => heldByRun(ownerId, hold));
}

/** An open run does not ask about it, or not yet: then nobody can decide. */
async function leftInLedger({ services }: Asking, ownerId: string, trace: string): Promise<OpenHold | undefined> {
  const row = await (await services.openLedger()).inquiry(trace);
  if (!row?.undecided || !isOwnOf(ownerId, row.ownerId)) return undefined;
  if (await isRunOpen(services.client, row.workflowId ?? workflowIdOf(ownerId))) return undefined;
  return leftBehind(row);
}
