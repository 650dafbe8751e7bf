/** Marks, in the status of an ended run, consents that applicants withdrew after its end. */
import type { JourneyStatus } from '../messages/journey/shapes.ts';
import type { PortfolioStatus } from '../messages/portfolio/shapes.ts';
import type { PullStatus } from '../messages/pull/shapes.ts';
import type { ShareReportStatus } from '../messages/share/shapes.ts';
import { openConfiguredLedger } from './configured-ledger.ts';

type AnyStatus = JourneyStatus | PullStatus | ShareReportStatus | PortfolioStatus;

interface Share {
  state: string;
  customerTraceNumber?: string;
  attention?: 'revokedAfterPosting';
}

const OPEN_STATES = new Set<string>(['running', 'waitingAtGate', 'waitingForConsent', 'held']);

/**
 * Marks posted shares as `revokedAfterPosting` if the ledger has a withdrawal that no operator has seen. Returns the
 * status unchanged while the run is open, and if the environment names no readable ledger.
 */
export async function withLaterWithdrawals(status: AnyStatus, env: NodeJS.ProcessEnv): Promise<AnyStatus> {
  if (OPEN_STATES.has(status.state)) return status;
  const asked = listShares(status)
    .filter(isUnmarked)
    .flatMap(({ customerTraceNumber }) => customerTraceNumber ?? []);
  if (asked.length === 0) return status;
  const withdrawn = await withdrawnSince(asked, env);
  const mark = <S extends Share>(share: S): S =>
    isUnmarked(share) && withdrawn.has(share.customerTraceNumber ?? '')
      ? { ...share, attention: 'revokedAfterPosting' }
      : share;
  if ('shares' in status) return { ...status, shares: status.shares.map(mark) };
  return 'shareId' in status ? mark(status) : status;
}

function listShares(status: AnyStatus): readonly Share[] {
  if ('shares' in status) return status.shares;
  return 'shareId' in status ? [status] : [];
}

function isUnmarked({ state, attention }: Share): boolean {
  return state === 'posted' && attention === undefined;
}

/** Returns the trace numbers that the ledger flags with `revokedAfterPosting`. */
async function withdrawnSince(customerTraceNumbers: readonly string[], env: NodeJS.ProcessEnv): Promise<Set<string>> {
  const withdrawn = new Set<string>();
  try {
    const ledger = await openConfiguredLedger(env, { besideLedger: true });
    try {
      for (const customerTraceNumber of customerTraceNumbers) {
        const inquiry = await ledger.inquiry(customerTraceNumber);
        if (inquiry?.attention.includes('revokedAfterPosting')) withdrawn.add(customerTraceNumber);
      }
    } finally {
      await ledger.close();
    }
  } catch {
    // An unreadable ledger must not fail a status (as in pauses-in-force.ts).
  }
  return withdrawn;
}
