/** Operations for the operators' page alone: the signed-in caller, and a search. */
import { z } from 'zod';
import { runInParallel } from '../../base/in-parallel.ts';
import type { NamedRecord } from '../../ledger/audit/audited.ts';
import { ENVIRONMENTS } from '../../model/products.ts';
import { checkRunKey, parseRunKey, RUN_KINDS, type RunKind, toRunKey } from '../../model/run-key.ts';
import type { Reach } from '../caller.ts';
import { isReached, reaches } from '../reach.ts';
import { type Call, defineRoute, type Route } from '../route.ts';

const reach = z.union([z.literal('*'), z.array(z.string())]);

const sessionSchema = z
  .object({
    by: z
      .string()
      .optional()
      .meta({ description: 'The name that decisions are recorded under. Absent if the token names no person.' }),
    scopes: z.array(z.string()),
    profiles: reach,
    endUsers: reach,
    environment: z.enum(ENVIRONMENTS),
    temporalUi: z.string().optional().meta({ description: 'The address of the Temporal UI.' }),
    runbookUrl: z.string().optional().meta({ description: 'The address of the runbook’s pages.' }),
    signOutAt: z.string().optional().meta({ description: 'The address at which the proxy signs people out.' }),
    signOut: z.boolean().meta({ description: 'Whether DELETE /session signs out.' }),
  })
  .meta({ id: 'session' });

export const sessionRoutes: readonly Route[] = [
  defineRoute({
    at: 'GET /v1/session',
    operationId: 'readSession',
    summary: 'Show what the token permits, for which runs, and in whose name',
    scope: 'holds:read',
    answer: sessionSchema,
    async run({ services, caller }) {
      const { environment, temporalUi, runbookUrl, signOutPath } = services;
      const { by, scopes, profiles, endUsers, signedInBy } = caller;
      const signOutAt = signedInBy === 'header' ? signOutPath : undefined;
      return {
        by,
        temporalUi,
        runbookUrl,
        signOutAt,
        scopes: [...scopes],
        profiles: toNameList(profiles),
        endUsers: toNameList(endUsers),
        environment,
        signOut: signedInBy === 'cookie',
      };
    },
  }),
];

function toNameList(names: Reach): '*' | string[] {
  return names === '*' ? '*' : [...names];
}

// Finds runs by their exact name, so that a caller learns nothing by trying beginnings of names.

const KINDS = Object.keys(RUN_KINDS) as [RunKind, ...RunKind[]];

const matchSchema = z.object({
  what: z.enum([...KINDS, 'inquiry', 'decision']),
  runKey: z.string().meta({ description: 'The key of the run.' }),
  customerTraceNumber: z.string().optional(),
  shareId: z.string().optional(),
  decisionId: z.string().optional(),
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
  defineRoute({
    at: 'GET /v1/search',
    operationId: 'search',
    summary: 'Find runs by a whole id: of the run, of a share, an inquiry or a decision',
    description: 'The answer has only runs that the token reaches.',
    scope: 'holds:read',
    query: searchQuery,
    answer: searchSchema,
    async run(call) {
      const { q } = call.query;
      // No record has a name of this form. The text may be personal, so the search does not use it.
      if (checkRunKey(q) !== null) return { matches: [] };
      const sources = await Promise.allSettled([findRunsNamed(call, q), recordsNamed(call, q)]);
      const matches = sources.flatMap((source) => (source.status === 'fulfilled' ? source.value : [])).slice(0, MOST);
      // If one source fails, the answer has the matches of the other.
      const failed = sources.find((source) => source.status === 'rejected');
      if (failed && matches.length === 0) throw failed.reason;
      call.note({ count: matches.length });
      return { matches };
    },
  }),
];

type Asking = Pick<Call, 'services' | 'caller'>;

/** Finds runs with this key, and runs of each other kind with this id. */
async function findRunsNamed({ services, caller }: Asking, q: string): Promise<Match[]> {
  const names = q.includes(':') ? [q] : KINDS.map((kind) => toRunKey(kind, q));
  const found = await runInParallel(names, KINDS.length, async (runKey) => {
    const required = await services.findRequiredReach(runKey);
    if (!required || !reaches(caller, required)) return [];
    const { kind, id, accountId } = parseRunKey(runKey);
    // A row requires the same reach as its review, which does not show that the row exists.
    if (accountId !== undefined && (await (await services.openLedger()).inquiriesOf(runKey)).length === 0) return [];
    return [{ what: kind, runKey, shareId: kind === 'share' ? id : undefined }];
  });
  return found.flat();
}

async function recordsNamed({ services, caller }: Asking, q: string): Promise<Match[]> {
  if (q.includes(':')) return [];
  const records = await (await services.openLedger()).recordsNamed(q);
  // Without a record, the API still looks up one run, so that an unknown name takes as long as a foreign one.
  const owners = records.length === 0 ? [q] : [...new Set(records.map(({ runKey }) => runKey))];
  const mine = new Set<string>();
  await runInParallel(owners, 8, async (runKey) => {
    if (await isReached({ services, caller }, runKey)) mine.add(runKey);
  });
  // A share by itself is found as a run.
  const isOwnRun = ({ what, runKey }: NamedRecord) => what === 'share' && runKey === toRunKey('share', q);
  const reached = records.filter((record) => mine.has(record.runKey) && !isOwnRun(record));
  return reached.map((record) => (record.what === 'decision' ? { ...record, decisionId: q } : record));
}
