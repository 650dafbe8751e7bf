/** Finds the reach that a caller needs to see a run: the profile and the end users that its start names. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { isRecord } from '../base/is-record.ts';
import { translatedServerError } from '../client/connection/errors.ts';
import { startedInput } from '../client/runs/start-run.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MadeFor } from '../ledger/reports/reports.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { parseRunKey, toRunKey, toWorkflowId } from '../model/run-key.ts';
import type { RequiredReach } from './caller.ts';

/**
 * `undefined` for an id that neither Temporal nor the ledger knows.
 *
 * - `isTemporalAway`: the caller knows it already. The ledger alone tells, at once.
 * - `ofLate`: an answer of the last half minute will do, for lists that are read again and again. What a run requires
 *   only grows.
 */
export type FindRequiredReach = (
  runKey: string,
  how?: { isTemporalAway?: boolean; ofLate?: boolean },
) => Promise<RequiredReach | undefined>;

interface ReachSources {
  client: Client;
  openLedger: () => Promise<Ledger>;
}

const TIMEOUT_MS = 5_000;

const KEPT_MS = 30_000;
const MOST_KEPT = 10_000;

const DEFAULT_PROFILE = 'default';

/** No id has this form: asked about where nothing is known, so that the answer takes the calls that a known one takes. */
export const NOBODYS_ID = '~';

/** Required for a share whose report names no end user: a secondary user does not see it. */
const NO_KNOWN_END_USER = { endUsers: null };

/** Only a token that reaches everything reaches what cannot be read. */
const UNREADABLE: RequiredReach = { profiles: [], endUsers: null };

/**
 * Asks Temporal and the ledger both, always: the answer about a run that the caller may not see takes as long as that
 * about none. A run that was started again under another's name belongs to both.
 *
 * @throws CallError, LedgerUnavailableError where neither of the two knows, and one of them cannot say
 */
export function createReachFinder({ client, openLedger }: ReachSources): FindRequiredReach {
  async function findReach(runKey: string, depth = 0, isTemporalAway = false): Promise<RequiredReach | undefined> {
    const [ofRun, ofLedger] = await Promise.allSettled([
      isTemporalAway ? undefined : ofTemporal(client, runKey),
      openLedger().then((ledger) => ledger.reading.madeFor(runKey)),
    ]);
    const found: RequiredReach[] = [];
    const run = ofRun.status === 'fulfilled' ? ofRun.value : undefined;
    const hasSource = parseRunKey(runKey).kind === 'share' && !isTemporalAway;
    const source = !hasSource ? undefined : depth === 0 ? await findReportReach(run) : NO_KNOWN_END_USER;
    if (run) found.push('input' in run ? ofInput(run.input, source) : UNREADABLE);
    if (ofLedger.status === 'fulfilled' && ofLedger.value.length > 0) found.push(ofInquiries(ofLedger.value, runKey));
    if (found.length > 0) return joinReaches(found);
    for (const source of [ofRun, ofLedger]) if (source.status === 'rejected') throw source.reason;
    return undefined;
  }

  /** Returns the end users of a share's report. Even if there was no such share, it looks for a report. */
  async function findReportReach(run: StartedRun | undefined): Promise<Pick<RequiredReach, 'endUsers'>> {
    const report = run && 'input' in run && isRecord(run.input) ? run.input.report : undefined;
    const { endUserCode, pullId, journeyId } = isRecord(report) ? report : {};
    const owner = typeof pullId === 'string' ? toRunKey('pull', pullId) : journeyId;
    if (typeof endUserCode !== 'string' && typeof owner === 'string') {
      return { endUsers: (await findReach(owner, 1))?.endUsers ?? null };
    }
    // For its time alone.
    await findReach(NOBODYS_ID, 1).catch(() => undefined);
    return typeof endUserCode === 'string' ? { endUsers: [endUserCode] } : NO_KNOWN_END_USER;
  }

  const kept = new Map<string, { required: RequiredReach; untilMs: number }>();

  return async (runKey, { isTemporalAway = false, ofLate = false } = {}) => {
    const known = kept.get(runKey);
    if (ofLate && known && known.untilMs > Date.now()) return known.required;
    const required = await findReach(runKey, 0, isTemporalAway);
    // The newest last, so that the first is the oldest.
    kept.delete(runKey);
    if (required && !isTemporalAway) kept.set(runKey, { required, untilMs: Date.now() + KEPT_MS });
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size > MOST_KEPT) kept.delete(oldest);
    return required;
  };
}

function ofInput(input: unknown, source: Pick<RequiredReach, 'endUsers'> | undefined): RequiredReach {
  return { ...readRequiredReach(input), ...source };
}

type StartedRun = { input: unknown } | { isUnreadable: true };

/** `undefined` where Temporal has no such run; without an input where its payloads are encrypted under foreign keys. */
async function ofTemporal(client: Client, runKey: string): Promise<StartedRun | undefined> {
  try {
    const read = () => startedInput(client, toWorkflowId(runKey));
    return { input: await client.withDeadline(Date.now() + TIMEOUT_MS, read) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isNotFound(error)) return undefined;
    const translated = translatedServerError(error);
    if (translated !== error || error instanceof CreditJourneyError) throw translated;
    return { isUnreadable: true };
  }
}

/** gRPC's own: the call is not one of the SDK's, which have an error for it. */
function isNotFound(error: unknown): boolean {
  return isRecord(error) && error.code === 5;
}

/** Returns what a journey, a pull or a portfolio review requires. */
export function readRequiredReach(input: unknown): RequiredReach {
  if (!isRecord(input)) return { profiles: [DEFAULT_PROFILE], endUsers: null };
  const { profile = DEFAULT_PROFILE, endUserCode, endUser, endUserCodes } = input;
  const others = isRecord(endUserCodes) ? Object.values(endUserCodes) : [];
  const names = [endUserCode, endUser, ...others].filter((name) => name !== undefined);
  const isKnown = names.length > 0 && names.every((name) => typeof name === 'string');
  return {
    profiles: typeof profile === 'string' ? [profile] : [],
    endUsers: isKnown ? [...new Set(names as string[])] : null,
  };
}

/**
 * A share names another end user than the journey that it belongs to. One by itself is whose report it passes on: its
 * input tells, and the ledger where its start has named them.
 */
function ofInquiries(inquiries: readonly MadeFor[], runKey: string): RequiredReach {
  const profiles = [...new Set(inquiries.map(({ profile }) => profile))];
  if (parseRunKey(runKey).kind === 'share') {
    const named = new Set(inquiries.flatMap(({ reportEndUserCode }) => reportEndUserCode ?? []));
    return { profiles, endUsers: named.size > 0 ? [...named] : null };
  }
  const own = inquiries.filter(({ productCode }) => productCode !== 'SECONDUSE');
  const names = own.flatMap(({ endUserCode, endUser }) => endUserCode ?? endUser ?? []);
  return { profiles, endUsers: names.length > 0 ? [...new Set(names)] : null };
}

function joinReaches(reaches: readonly RequiredReach[]): RequiredReach {
  const known = reaches.filter(({ endUsers }) => endUsers !== null);
  return {
    profiles: [...new Set(reaches.flatMap(({ profiles }) => profiles))],
    endUsers: known.length > 0 ? [...new Set(known.flatMap(({ endUsers }) => endUsers ?? []))] : null,
  };
}
