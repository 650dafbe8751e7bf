/** What needs a person, by the ledger's rows: a list needs no worker, and a run that is lost is in it. */
import { z } from 'zod';
import { badRequest } from '../../http/refusal.ts';
import type { WorkCount, WorkFilters, WorkRow } from '../../ledger/work.ts';
import { holdStatusSchema } from '../../messages/journey/result-schemas.ts';
import { ALLOWED_ACTIONS, HOLD_ACTIONS, isFailureType } from '../../model/failure-types.ts';
import { LASTING_FLAGS } from '../../model/inquiry.ts';
import { ownerOf, type RunKind } from '../../model/owner-id.ts';
import { PRODUCTS } from '../../model/products.ts';
import type { ApiCaller } from '../caller.ts';
import type { ApiServices } from '../services.ts';
import { guideOf, guideSchema } from './row-guide.ts';
import { withinReach } from './rows-in-reach.ts';

const fields = holdStatusSchema.shape;
const instant = z.string().meta({ format: 'date-time' });

export const holdSchema = z
  .object({
    holdId: z.string(),
    kind: z.enum(['held', 'flagged']).meta({
      description: 'held: an inquiry waits for a decision. flagged: a person should look, and nothing waits for it.',
    }),
    reason: z.string().meta({ description: 'The runbook has a page about each.' }),
    since: instant,
    ownerId: z
      .string()
      .meta({ description: 'The run: a journeyId, pull:<pullId>, share:<shareId>, portfolio:<reviewId>.' }),
    profile: z.string(),
    endUserCode: z.string().exactOptional(),
    endUser: z.string().exactOptional(),
    productCode: z.enum(PRODUCTS).exactOptional(),
    shareId: z.string().exactOptional(),
    customerTraceNumber: z.string().exactOptional(),
    attempt: z.int().min(0).exactOptional().meta({ description: 'The attempt that a decision judges.' }),
    // What the run says of it. Absent where the inquiry itself has it: GET /v1/inquiries.
    ...{ applicantIds: fields.applicantIds, httpStatus: fields.httpStatus, returnCode: fields.returnCode },
    ...{ returnReasonCode: fields.returnReasonCode, otherTraceNumber: fields.otherTraceNumber },
    ...{ resendFrom: fields.resendFrom, problems: fields.problems },
    refusalKept: z.literal(true).exactOptional().meta({ description: 'The ledger keeps what the gateway wrote.' }),
    allowedActions: z.array(z.enum([...HOLD_ACTIONS, 'seen'])).meta({
      description:
        'By its reason. Where the run is lost, amend is refused; where nothing was sent either, it is only marked as seen.',
    }),
    decideAt: z.string().exactOptional().meta({ description: 'Where to POST the decision.' }),
    guide: guideSchema.meta({ description: 'What it means, and what each decision will do, in plain sentences.' }),
  })
  .meta({ id: 'hold' });

export type Hold = z.infer<typeof holdSchema>;

const COLLECTIONS: Record<RunKind, string> = {
  journey: 'journeys',
  pull: 'pulls',
  share: 'shares',
  portfolio: 'portfolio-reviews',
};

interface Page {
  holds: Hold[];
  next?: string;
}

type Services = Pick<ApiServices, 'openLedger' | 'runScope' | 'client'>;

/** A page may hold fewer than asked, and none, while more follow: those that the token does not reach are left out. */
export async function openWork(
  services: Services,
  caller: ApiCaller,
  query: WorkFilters & { limit: number; after?: string },
): Promise<Page> {
  const { rows, next } = await pageOf(services, { ...query, ...reachIn(caller) });
  const mine = await withinReach(services, caller, rows);
  return { holds: mine.map(holdOf), ...(next === undefined ? {} : { next }) };
}

/** How many wait, by kind and reason, the most first. For whom a run is, here the ledger alone says. */
export async function countedWork(
  { openLedger }: Services,
  caller: ApiCaller,
  filters: WorkFilters,
): Promise<{ counts: WorkCount[]; isWhole: boolean }> {
  const ledger = await openLedger();
  return { counts: await ledger.work.counts({ ...filters, ...reachIn(caller) }), isWhole: true };
}

/** Keeps most of what the token does not reach out of the query: what the ledger does not know yet, the run says. */
function reachIn({ profiles, endUsers }: ApiCaller): Pick<WorkFilters, 'profiles' | 'endUsers'> {
  return {
    ...(profiles === '*' ? {} : { profiles: [...profiles] }),
    ...(endUsers === '*' ? {} : { endUsers: [...endUsers] }),
  };
}

async function pageOf({ openLedger }: Services, query: WorkFilters & { limit: number; after?: string }) {
  const ledger = await openLedger();
  try {
    return await ledger.work.open(query);
  } catch (error) {
    if (error instanceof RangeError) throw badRequest('after', 'after must be the next of a page before');
    throw error;
  }
}

/** A row as the API answers it. */
export function holdOf({ workId, gatewayProfile, details, ...row }: WorkRow): Hold {
  const { ownerId, kind, reason, since, customerTraceNumber } = row;
  const { kind: run, id } = ownerOf(ownerId);
  const isDecided = kind === 'held' && isFailureType(reason);
  const seenAt =
    customerTraceNumber !== undefined
      ? `/v1/inquiries/${customerTraceNumber}/seen`
      : // Of the other flags of a run its cause has to be mended.
        LASTING_FLAGS.includes(reason)
        ? `/v1/runs/${encodeURIComponent(ownerId)}/seen`
        : undefined;
  const decideAt = isDecided ? `/v1/${COLLECTIONS[run]}/${id}/decisions` : seenAt;
  const allowedActions: Hold['allowedActions'] = isDecided
    ? [...ALLOWED_ACTIONS[reason]]
    : seenAt === undefined
      ? []
      : ['seen'];
  return {
    ...{ holdId: workId, kind, reason, since, ownerId, profile: gatewayProfile },
    ...row,
    ...(details as Partial<Hold> | undefined),
    allowedActions,
    ...(decideAt === undefined ? {} : { decideAt }),
    guide: guideOf({ ...row, allowedActions }),
  };
}
