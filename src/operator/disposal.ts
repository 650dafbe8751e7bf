/**
 * Disposal of journeys, for operators (docs/retention.md): ledger and Temporal together, one journey after the other.
 * The order of things, and why, is in src/ledger/retention/disposal.ts.
 */
import type { Client } from '@temporalio/client';
import { omitUndefined } from '../base/defined.ts';
import { inParallel } from '../base/in-parallel.ts';
import { CallError } from '../client/connection/errors.ts';
import { deleteClosedRuns, findRuns, type JourneyRuns } from '../client/connection/journey-runs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DisposalView } from '../ledger/retention/disposal.ts';
import type { AgeQuery, Authorization, DisposalScope, Obstacle } from '../ledger/retention/retention.ts';
import type { ProductCode } from '../model/products.ts';

export interface DisposalContext {
  client: Client;
  ledger: Ledger;
}

/** By id, or by the age of the newest attempt or answer. */
export type DisposalSelection =
  | { runKey: string }
  | {
      olderThanMs: number;
      productCode?: ProductCode;
      /** Maximum of planned journeys. Refused journeys are not counted. */
      limit: number;
    };

export interface FinishedDisposal extends DisposalScope {
  inquiries: number;
  reports: number;
  /** Runs that Temporal has, or had: closed ones, and the delivery of events. */
  runs: number;
  /**
   * Shares of its reports that were made by themselves, by run key (`share:<shareId>`), of which there is something
   * left. Each is an owner of its own: it stays until it is disposed of by its own id. Absent where there are none.
   */
  shares?: string[];
}

interface PlannedDisposal extends FinishedDisposal {
  /** Events wait for an endpoint: they are dropped. */
  delivering?: true;
  newestAt?: string;
  /** When an unfinished disposal began. */
  begunAt?: string;
}

export interface RefusedDisposal extends DisposalScope {
  obstacles: (Obstacle | { reason: 'runOpen' | 'runsRemain' })[];
  /** Histories that are gone from Temporal all the same: deleted before the obstacle came. */
  histories: number;
}

export interface DisposalPlan extends Pick<FinishedDisposal, 'shares'> {
  planned: PlannedDisposal[];
  refused: RefusedDisposal[];
  /** There are more that are old enough: plan again after these. */
  more: boolean;
  /** Begun before and not finished, also outside this selection: to be repeated by id, or by age and product. */
  unfinished: DisposalScope[];
  /** By id, where nothing is left: when it was disposed of. With the shares that are left. */
  disposedAt?: string;
}

/** Low, since workers use the ledger and the server meanwhile. */
const AT_ONCE = 4;
const PAGE = 50;

/**
 * Plans a disposal: what would be disposed of, and why something would not. Changes nothing.
 *
 * @throws LedgerUnavailableError; CallError, also where neither Temporal nor the ledger knows the id
 */
export async function planDisposal(context: DisposalContext, selection: DisposalSelection): Promise<DisposalPlan> {
  const unfinished = await context.ledger.retention.unfinished();
  const plan: DisposalPlan = { planned: [], refused: [], more: false, unfinished };
  const add = ({ planned = [], refused = [], ...others }: Partial<DisposalPlan> = {}) => {
    plan.planned.push(...planned);
    plan.refused.push(...refused);
    Object.assign(plan, others);
  };
  if ('runKey' in selection) {
    const item = await planOne(context, selection);
    if (!item) throw new CallError('journeyNotFound', { runKey: selection.runKey });
    add(item);
    return plan;
  }
  const { olderThanMs, limit, ...ofProduct } = selection;
  let after: AgeQuery['after'];
  do {
    const query = { olderThanMs, ...ofProduct, ...omitUndefined({ after }) };
    const size = Math.min(PAGE, limit - plan.planned.length);
    const page = await context.ledger.retention.olderThan({ ...query, limit: size });
    const found = await inParallel(page.runKeys, AT_ONCE, (runKey) => planOne(context, { runKey, ...ofProduct }));
    for (const item of found) if (item?.disposedAt === undefined) add(item);
    after = page.next;
  } while (after && plan.planned.length < limit);
  return { ...plan, more: after !== undefined };
}

/** `undefined` where neither ledger nor Temporal has anything of it. */
async function planOne(context: DisposalContext, scope: DisposalScope): Promise<Partial<DisposalPlan> | undefined> {
  const { client, ledger } = context;
  const view = await ledger.retention.view(scope);
  const runs = await findRuns(client, scope.runKey, view.runs);
  const obstacles = listObstacles(view, runs);
  if (obstacles.length > 0) return { refused: [{ ...scope, obstacles, histories: view.histories }] };
  const { inquiries, reports, newestAt, begunAt, disposedAt } = view;
  const count = runs.closed.length + runs.delivering.length;
  const isLeft = inquiries > 0 || count > 0 || begunAt !== undefined;
  if (!isLeft && disposedAt === undefined) return undefined;
  const shares = await separateShares(context, scope);
  if (!isLeft) return omitUndefined({ disposedAt, ...shares });
  const delivering = runs.delivering.length > 0 ? (true as const) : undefined;
  const facts = { ...omitUndefined({ delivering, newestAt, begunAt }), ...shares };
  return { planned: [{ ...scope, inquiries, reports, runs: count, ...facts }] };
}

/** A share that posted nothing is at most in Temporal. */
async function separateShares(
  { client, ledger }: DisposalContext,
  scope: DisposalScope,
): Promise<{ shares?: string[] }> {
  const shares: string[] = [];
  for (const { runKey, inquiries } of await ledger.retention.sharesOf(scope)) {
    const runs = inquiries > 0 ? [] : Object.values(await findRuns(client, runKey, [])).flat();
    if (inquiries + runs.length > 0) shares.push(runKey);
  }
  return shares.length > 0 ? { shares } : {};
}

function listObstacles(
  { obstacles, holdsOnOtherRows }: DisposalView,
  { open, closed, delivering }: JourneyRuns,
): RefusedDisposal['obstacles'] {
  const holds = closed.length + delivering.length > 0 ? holdsOnOtherRows : [];
  return [
    ...obstacles,
    ...holds.map((hold) => ({ reason: 'legalHold' as const, hold })),
    ...(open.length > 0 ? [{ reason: 'runOpen' as const }] : []),
  ];
}

/**
 * Disposes of one planned item, and repeats every check first. The caller may stop it anywhere and run it again.
 *
 * @throws CallError, LedgerUnavailableError: nothing of the ledger was destroyed
 */
export async function disposeItem(
  context: DisposalContext,
  { runKey, productCode }: DisposalScope,
  authorization: Authorization,
): Promise<{ finished: FinishedDisposal } | { refused: RefusedDisposal }> {
  const { client, ledger } = context;
  const { retention } = ledger;
  const scope: DisposalScope = { runKey, ...omitUndefined({ productCode }) };
  const refuse = async (obstacles: RefusedDisposal['obstacles']) => {
    const { histories } = await retention.view(scope);
    return { refused: { ...scope, obstacles, histories } };
  };
  const view = await retention.view(scope);
  const before = listObstacles(view, await findRuns(client, runKey, view.runs));
  if (before.length > 0) return refuse(before);
  const shares = await separateShares(context, scope);
  const begun = await retention.begin(scope, authorization);
  if (begun.kind === 'refused') return refuse(begun.obstacles);
  // A run that was started since the last look claims nothing any more: it ends, and this is done again.
  let holds: Obstacle[] = [];
  const { deleted, left } = await deleteClosedRuns(client, runKey, view.runs, async (run) => {
    holds = await retention.recordDeletion(scope, authorization, run);
    return holds.length === 0;
  });
  if (holds.length > 0) return refuse(holds);
  if (left.open.length > 0) return refuse([{ reason: 'runOpen' }]);
  if (left.closed.length + left.delivering.length > 0) return refuse([{ reason: 'runsRemain' }]);
  const done = await retention.dispose(scope, authorization, deleted);
  if (done.kind === 'refused') return refuse(done.obstacles);
  return { finished: { ...scope, inquiries: done.inquiries, reports: done.reports, runs: deleted, ...shares } };
}
