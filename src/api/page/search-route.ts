/** Finds runs by a name that somebody has in hand: exactly, so that nothing is learnt by trying beginnings of names. */
import { z } from 'zod';
import { inParallel } from '../../base/in-parallel.ts';
import type { NamedRecord } from '../../ledger/audit/audited.ts';
import { ownerIdOf, ownerIdProblem, ownerOf, RUN_KINDS, type RunKind } from '../../model/owner-id.ts';
import { reaches } from '../caller.ts';
import { isReached } from '../reach.ts';
import { type Call, type Reply, type Route, route } from '../route.ts';

const KINDS = Object.keys(RUN_KINDS) as [RunKind, ...RunKind[]];

const matchSchema = z.object({
  what: z.enum([...KINDS, 'inquiry', 'decision']),
  ownerId: z.string().meta({ description: 'The run.' }),
  customerTraceNumber: z.string().exactOptional(),
  shareId: z.string().exactOptional(),
  decisionId: z.string().exactOptional(),
});
type Match = z.infer<typeof matchSchema>;

const MOST = 20;

const searchSchema = z
  .object({ matches: z.array(matchSchema).meta({ description: `At most ${MOST}; runs first.` }) })
  .meta({ id: 'searchResult' });

const searchQuery = z.strictObject({
  q: z
    .string()
    .max(200)
    .transform((text) => text.trim())
    .pipe(z.string().min(1).max(64))
    .describe('1 to 64 characters: a whole id, also as `<kind>:<id>`.'),
});

export const searchRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/search',
    operationId: 'search',
    summary: 'Find runs by a whole id: of the run, of a share, an inquiry or a decision',
    description: 'What the token does not reach is not there.',
    scope: 'holds:read',
    query: searchQuery,
    answers: { 200: { description: 'What has that name.', schema: searchSchema } },
    async handle(call): Promise<Reply<200>> {
      const { q } = call.query;
      // Nothing has such a name. It may be a person's own, and is not looked for.
      if (ownerIdProblem(q) !== null) return { status: 200, body: { matches: [] } };
      const sources = await Promise.allSettled([runsNamed(call, q), recordsNamed(call, q)]);
      const matches = sources.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])).slice(0, MOST);
      // One of the two is away: what the other has found is told all the same.
      const failed = sources.find((one) => one.status === 'rejected');
      if (failed && matches.length === 0) throw failed.reason;
      call.noted({ count: matches.length });
      return { status: 200, body: { matches } };
    },
  }),
];

type Asking = Pick<Call, 'services' | 'caller'>;

/** As it stands, and as the id of each other kind. */
async function runsNamed({ services, caller }: Asking, q: string): Promise<Match[]> {
  const names = q.includes(':') ? [q] : KINDS.map((kind) => ownerIdOf(kind, q));
  const found = await inParallel(names, KINDS.length, async (ownerId) => {
    const scope = await services.runScope(ownerId);
    if (!scope || !reaches(caller, scope)) return [];
    const { kind, id, accountId } = ownerOf(ownerId);
    // Of a row its review is there, which says nothing of the row.
    if (accountId !== undefined && (await rowsOf(services, ownerId)) === 0) return [];
    return [{ what: kind, ownerId, ...(kind === 'share' ? { shareId: id } : {}) }];
  });
  return found.flat();
}

async function rowsOf({ openLedger }: Asking['services'], ownerId: string): Promise<number> {
  return (await (await openLedger()).inquiriesOf(ownerId)).length;
}

async function recordsNamed({ services, caller }: Asking, q: string): Promise<Match[]> {
  if (q.includes(':')) return [];
  const records = await (await services.openLedger()).recordsNamed(q);
  // Where there is none, one run is asked all the same: the answer about a foreign record takes no longer than this.
  const owners = records.length === 0 ? [q] : [...new Set(records.map(({ ownerId }) => ownerId))];
  const mine = new Set<string>();
  await inParallel(owners, 8, async (ownerId) => {
    if (await isReached({ services, caller }, ownerId)) mine.add(ownerId);
  });
  // A share by itself is found as a run.
  const isOwnRun = ({ what, ownerId }: NamedRecord) => what === 'share' && ownerId === ownerIdOf('share', q);
  const reached = records.filter((record) => mine.has(record.ownerId) && !isOwnRun(record));
  return reached.map(({ what, ...record }) => ({
    ...{ what, ...record },
    ...(what === 'decision' ? { decisionId: q } : {}),
  }));
}
