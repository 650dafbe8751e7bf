/** Judges whose runs a caller reaches: the profile and all end users that a run's start names must be the caller's. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { runInParallel } from '../base/in-parallel.ts';
import { isRecord } from '../base/is-record.ts';
import { translateServerError } from '../client/connection/errors.ts';
import { Refusal } from '../http/refusal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReadersReach } from '../ledger/owners.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import {
  parseRunKey,
  RUN_KINDS,
  type RunKind,
  toRunKey,
  toWorkflowId,
  toWorkflowTypesFilter,
} from '../model/run-key.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import { readStartInput } from '../temporal/histories.ts';
import type { ApiCaller, Reach } from './caller.ts';

type Reaching = Pick<ApiCaller, 'profiles' | 'endUsers'>;

interface Asking {
  caller: Reaching;
  services: { client: Client } & Pick<ReachFinder, 'findRequiredReach'>;
}

/** The profiles and end users that a caller must reach to see a run. They are fixed when the run starts. */
export interface RequiredReach {
  profiles: readonly string[];
  /** The end users that its reports are for. `null` if unknown: then only a caller for all end users may see the run. */
  endUsers: readonly string[] | null;
}

/** Whether the caller may act for all of these profiles and end users. */
export function reaches({ profiles, endUsers }: Reaching, required: RequiredReach): boolean {
  const hasAll = (reach: Reach, names: readonly string[] | null) =>
    reach === '*' || (names !== null && names.length > 0 && names.every((name) => reach.has(name)));
  return hasAll(profiles, required.profiles) && hasAll(endUsers, required.endUsers);
}

export function reachesAll({ profiles, endUsers }: Reaching): boolean {
  return profiles === '*' && endUsers === '*';
}

export async function isReached({ caller, services }: Asking, runKey: string): Promise<boolean> {
  if (reachesAll(caller)) return true;
  const required = await services.findRequiredReach(runKey);
  return required !== undefined && reaches(caller, required);
}

/** @throws Refusal 404, as for an unknown id */
export async function requireReach(asking: Asking, runKey: string): Promise<void> {
  if (!(await isReached(asking, runKey))) throw new Refusal('notFound');
}

/**
 * Whether the caller reaches the run of an inquiry that was looked up; where there is none, the same is asked.
 *
 * @throws Refusal 404
 */
export async function requireFound<Inquiry extends { runKey: string }>(asking: Asking, inquiry: Inquiry | null) {
  await requireReach(asking, inquiry?.runKey ?? NOBODYS_ID);
  if (!inquiry) throw new Refusal('notFound');
  return inquiry;
}

/**
 * A refusal takes a multiple of this time. To find another caller's run takes a millisecond longer than to find none,
 * and no caller may measure that.
 */
const STEP_MS = 25;

export async function waitUntilNextStep({ startedAt }: { startedAt: number }): Promise<void> {
  await sleep(Math.ceil(STEP_MS - ((performance.now() - startedAt) % STEP_MS)));
}

// Lists: the ledger and Temporal leave out what they know to be out of reach, and the rest is judged run by run.

/** Returns the caller's reach in the form that the ledger's readings take; in one order, since cursors depend on it. */
export function toReadersReach({ profiles, endUsers }: Reaching): ReadersReach {
  const toList = (reach: Reach) => (reach === '*' ? undefined : [...reach].sort());
  return { profiles: toList(profiles), endUsers: toList(endUsers) };
}

/** A longer list would exceed the server's limit for a query. Then the API checks the owner of each run. */
const MOST_NAMES = 100;

/** Names that need no escape in a list filter. */
const PLAIN_NAME = /^[\p{L}\p{N} ._:&,-]{1,200}$/u;

/**
 * Conditions for Temporal's visibility, as far as search attributes tell whose a run is. What passes must still be judged:
 * a run of two end users, one whose first activity has not ended, and a share, which names its secondary user there.
 */
export function reachFilter({ profiles, endUsers }: Reaching): string[] {
  const condition = (name: SearchAttributeName, reach: Reach, others: string[] = []) => {
    const names = [...reach];
    if (reach === '*' || names.length > MOST_NAMES || !names.every((text) => PLAIN_NAME.test(text))) return [];
    const isOurs = names.length === 0 ? [] : [`${name} IN (${names.map((text) => `'${text}'`).join(', ')})`];
    return [`(${[`${name} IS NULL`, ...isOurs, ...others].join(' OR ')})`];
  };
  return [
    ...condition('GatewayProfile', profiles),
    ...condition('EndUserCodes', endUsers, [toWorkflowTypesFilter(RUN_KINDS.share)]),
  ];
}

const AT_ONCE = 16;
const PROBE_MS = 2_000;

/**
 * Returns the rows whose run the caller reaches, in their order, by the rule that judges a message to the run. Each run is
 * asked for all that it is for. Where Temporal is away the ledger alone tells: a list is needed most then.
 */
export async function keepReached<Row extends { runKey: string }>({ caller, services }: Asking, rows: readonly Row[]) {
  if (reachesAll(caller) || rows.length === 0) return [...rows];
  const { client } = services;
  // Probes Temporal once for all rows, so that an unreachable server does not delay each row.
  const isTemporalAway = await client
    .withDeadline(Date.now() + PROBE_MS, () => client.workflowService.getSystemInfo({}))
    .then(() => false)
    .catch(() => true);
  const reached = new Set<string>();
  await runInParallel([...new Set(rows.map(({ runKey }) => runKey))], AT_ONCE, async (runKey) => {
    const required = await services.findRequiredReach(runKey, { isTemporalAway, ofLate: true });
    if (required && reaches(caller, required)) reached.add(runKey);
  });
  return rows.filter(({ runKey }) => reached.has(runKey));
}

// Requirements of a run.

/** Finds the profiles and end users that a caller must reach. */
export type ReachFinder = ReturnType<typeof createReachFinder>;

const TIMEOUT_MS = 5_000;

const KEPT_MS = 30_000;
const MOST_KEPT = 10_000;

const DEFAULT_PROFILE = 'default';

/**
 * An id that no record has. The API looks it up for an unknown run, so that the answer takes as many calls as for a
 * known one.
 */
const NOBODYS_ID = '~';

/**
 * Always asks both Temporal and the ledger, so that a run out of the caller's reach takes as long as an unknown run. A
 * run that was started again for another end user belongs to both.
 *
 * @throws CallError, LedgerUnavailableError where neither of the two knows, and one of them cannot say
 */
export function createReachFinder(client: Client, openLedger: () => Promise<Ledger>) {
  async function findReach(runKey: string, depth = 0, isTemporalAway = false): Promise<RequiredReach | undefined> {
    const [ofRun, ofLedger] = await Promise.allSettled([
      isTemporalAway ? undefined : readInput(client, runKey),
      openLedger().then((ledger) => ledger.madeFor(runKey)),
    ]);
    const found: RequiredReach[] = [];
    const input = ofRun.status === 'fulfilled' ? ofRun.value : undefined;
    let required = readRequiredReach(input);
    if (!isTemporalAway && parseRunKey(runKey).kind === 'share') {
      // Looks for a report even if there is no such share, to take equally long.
      const report = depth > 0 ? undefined : await findReportReach(input, NOBODYS_ID);
      required = { ...required, endUsers: report?.endUsers ?? null };
    }
    if (input !== undefined) found.push(required);
    if (ofLedger.status === 'fulfilled' && ofLedger.value.profiles.length > 0) found.push(ofLedger.value);
    if (found.length > 0) {
      const profiles = found.flatMap((reach) => reach.profiles);
      const endUsers = found.flatMap((reach) => reach.endUsers ?? []);
      return createReach(profiles, endUsers);
    }
    for (const source of [ofRun, ofLedger]) if (source.status === 'rejected') throw source.reason;
    return undefined;
  }

  /**
   * A secondary user does not see a share. If its report is not known, only callers who reach all end users do.
   *
   * @param otherwise looked for in vain where the input names no stored report
   */
  async function findReportReach(input: unknown, otherwise?: string): Promise<RequiredReach> {
    const report = isRecord(input) ? input.report : undefined;
    const { endUserCode, pullId, journeyId } = isRecord(report) ? report : {};
    const owner = typeof pullId === 'string' ? toRunKey('pull', pullId) : journeyId;
    if (typeof endUserCode !== 'string' && typeof owner === 'string') {
      return (await findReach(owner, 1)) ?? createReach([], []);
    }
    if (otherwise !== undefined) await findReach(otherwise, 1).catch(() => undefined);
    return createReach([], typeof endUserCode === 'string' ? [endUserCode] : []);
  }

  /** Returns what the input of a start requires. Of a share, the end user of its report counts. */
  async function findInputReach(kind: RunKind, input: unknown): Promise<RequiredReach> {
    const own = readRequiredReach(input);
    if (kind !== 'share') return own;
    const report = await findReportReach(input);
    return createReach([...own.profiles, ...report.profiles], report.endUsers ?? []);
  }

  const kept = new Map<string, { required: RequiredReach; untilMs: number }>();

  /**
   * `undefined` for an id that neither Temporal nor the ledger knows.
   *
   * @param isTemporalAway the caller knows it already. The ledger alone tells, at once.
   * @param ofLate an answer of the last half minute will do, for lists that are read again and again. What a run requires
   *   only grows.
   */
  async function findRequiredReach(
    runKey: string,
    { isTemporalAway = false, ofLate = false } = {},
  ): Promise<RequiredReach | undefined> {
    const known = kept.get(runKey);
    if (ofLate && known && known.untilMs > Date.now()) return known.required;
    const required = await findReach(runKey, 0, isTemporalAway);
    // The newest last, so that the first is the oldest.
    kept.delete(runKey);
    if (required && !isTemporalAway) kept.set(runKey, { required, untilMs: Date.now() + KEPT_MS });
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size > MOST_KEPT) kept.delete(oldest);
    return required;
  }
  return { findRequiredReach, findInputReach };
}

/** Replaces an input that cannot be decoded. Only a token with unlimited reach may see such a run. */
const UNREADABLE = { profile: null };

/** Reads the input of the run's newest start. `undefined` where Temporal has no such run. */
async function readInput(client: Client, runKey: string): Promise<unknown> {
  try {
    const read = () => readStartInput(client, toWorkflowId(runKey));
    return (await client.withDeadline(Date.now() + TIMEOUT_MS, read)) ?? null;
  } catch (error) {
    // gRPC's own NOT_FOUND: the call is not one of the SDK's, which have an error for it.
    if (error instanceof WorkflowNotFoundError || (isRecord(error) && error.code === 5)) return undefined;
    const translated = translateServerError(error);
    if (translated !== error || error instanceof CreditJourneyError) throw translated;
    return UNREADABLE;
  }
}

/** Returns what a journey, a pull or a portfolio review requires. */
function readRequiredReach(input: unknown): RequiredReach {
  if (!isRecord(input)) return { profiles: [DEFAULT_PROFILE], endUsers: null };
  const { profile = DEFAULT_PROFILE, endUserCode, endUser, endUserCodes } = input;
  const others = isRecord(endUserCodes) ? Object.values(endUserCodes) : [];
  const names = [endUserCode, endUser, ...others].filter((name) => name !== undefined);
  const isKnown = names.every((name) => typeof name === 'string');
  return createReach(typeof profile === 'string' ? [profile] : [], isKnown ? (names as string[]) : []);
}

/** @param endUsers none if they are not known */
function createReach(profiles: readonly string[], endUsers: readonly string[]): RequiredReach {
  return { profiles: [...new Set(profiles)], endUsers: endUsers.length > 0 ? [...new Set(endUsers)] : null };
}
