/** Finds the scope of a run: its profile and its end users, from its start. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { isRecord } from '../base/is-record.ts';
import { translatedServerError } from '../client/connection/errors.ts';
import { startedInput } from '../client/runs/start-run.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MadeFor } from '../ledger/reports/reports.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { parseRunKey, toRunKey, toWorkflowId } from '../model/run-key.ts';
import type { RunScope } from './caller.ts';

/**
 * `undefined` for an id that neither Temporal nor the ledger knows.
 *
 * - `isTemporalAway`: the caller knows it already. The ledger alone tells, at once.
 * - `ofLate`: an answer of the last half minute will do, for lists that are read again and again. A run's scope only grows.
 */
export type RunScopes = (
  runKey: string,
  how?: { isTemporalAway?: boolean; ofLate?: boolean },
) => Promise<RunScope | undefined>;

interface ScopeSources {
  client: Client;
  openLedger: () => Promise<Ledger>;
}

const TIMEOUT_MS = 5_000;

const KEPT_MS = 30_000;
const MOST_KEPT = 10_000;

const DEFAULT_PROFILE = 'default';

/** No id has this form: asked about where nothing is known, so that the answer takes the calls that a known one takes. */
export const NOBODYS_ID = '~';

/** The scope of a share whose report names no end user: a secondary user does not see it. */
const NOBODYS = { endUsers: null };

/** Only a token that reaches everything reaches what cannot be read. */
const UNREADABLE: RunScope = { profiles: [], endUsers: null };

/**
 * Asks Temporal and the ledger both, always: the answer about a run that the caller may not see takes as long as that
 * about none. A run that was started again under another's name belongs to both.
 *
 * @throws TemporalUnavailableError, LedgerUnavailableError where neither of the two knows, and one of them cannot say
 */
export function runScopes({ client, openLedger }: ScopeSources): RunScopes {
  async function findScope(runKey: string, depth = 0, isTemporalAway = false): Promise<RunScope | undefined> {
    const [ofRun, ofLedger] = await Promise.allSettled([
      isTemporalAway ? undefined : ofTemporal(client, runKey),
      openLedger().then((ledger) => ledger.reading.madeFor(runKey)),
    ]);
    const found: RunScope[] = [];
    const run = ofRun.status === 'fulfilled' ? ofRun.value : undefined;
    const hasSource = parseRunKey(runKey).kind === 'share' && !isTemporalAway;
    const source = !hasSource ? undefined : depth === 0 ? await findReportScope(run) : NOBODYS;
    if (run) found.push('input' in run ? ofInput(run.input, source) : UNREADABLE);
    if (ofLedger.status === 'fulfilled' && ofLedger.value.length > 0) found.push(ofInquiries(ofLedger.value, runKey));
    if (found.length > 0) return joinScopes(found);
    for (const source of [ofRun, ofLedger]) if (source.status === 'rejected') throw source.reason;
    return undefined;
  }

  /** Returns the end users of a share's report. Even if there was no such share, it looks for a report. */
  async function findReportScope(run: StartedRun | undefined): Promise<Pick<RunScope, 'endUsers'>> {
    const report = run && 'input' in run && isRecord(run.input) ? run.input.report : undefined;
    const { endUserCode, pullId, journeyId } = isRecord(report) ? report : {};
    const owner = typeof pullId === 'string' ? toRunKey('pull', pullId) : journeyId;
    if (typeof endUserCode !== 'string' && typeof owner === 'string') {
      return { endUsers: (await findScope(owner, 1))?.endUsers ?? null };
    }
    // For its time alone.
    await findScope(NOBODYS_ID, 1).catch(() => undefined);
    return typeof endUserCode === 'string' ? { endUsers: [endUserCode] } : NOBODYS;
  }

  const kept = new Map<string, { scope: RunScope; untilMs: number }>();

  return async (runKey, { isTemporalAway = false, ofLate = false } = {}) => {
    const known = kept.get(runKey);
    if (ofLate && known && known.untilMs > Date.now()) return known.scope;
    const scope = await findScope(runKey, 0, isTemporalAway);
    // The newest last, so that the first is the oldest.
    kept.delete(runKey);
    if (scope && !isTemporalAway) kept.set(runKey, { scope, untilMs: Date.now() + KEPT_MS });
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size > MOST_KEPT) kept.delete(oldest);
    return scope;
  };
}

function ofInput(input: unknown, source: Pick<RunScope, 'endUsers'> | undefined): RunScope {
  return { ...scopeOfInput(input), ...source };
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

/** Returns the scope of a journey, a pull or a portfolio review. */
export function scopeOfInput(input: unknown): RunScope {
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
function ofInquiries(inquiries: readonly MadeFor[], runKey: string): RunScope {
  const profiles = [...new Set(inquiries.map(({ profile }) => profile))];
  if (parseRunKey(runKey).kind === 'share') {
    const named = new Set(inquiries.flatMap(({ reportEndUserCode }) => reportEndUserCode ?? []));
    return { profiles, endUsers: named.size > 0 ? [...named] : null };
  }
  const own = inquiries.filter(({ productCode }) => productCode !== 'SECONDUSE');
  const names = own.flatMap(({ endUserCode, endUser }) => endUserCode ?? endUser ?? []);
  return { profiles, endUsers: names.length > 0 ? [...new Set(names)] : null };
}

function joinScopes(scopes: readonly RunScope[]): RunScope {
  const known = scopes.filter(({ endUsers }) => endUsers !== null);
  return {
    profiles: [...new Set(scopes.flatMap(({ profiles }) => profiles))],
    endUsers: known.length > 0 ? [...new Set(known.flatMap(({ endUsers }) => endUsers ?? []))] : null,
  };
}
