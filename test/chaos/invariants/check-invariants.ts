/** Every invariant, judged one after another. */
import type { Evidence } from '../evidence.ts';
import { answeredIsKept, appliedOnce, foreignLooksUnknown } from './api.ts';
import { consentsKept, noClaimAgainstRefusal, refusalAfterPosting, standingConsent } from './consents.ts';
import { falseAlarms } from './false-alarms.ts';
import type { Invariant, Verdict } from './invariant.ts';
import { everyRunEnds, noStuckRun, trueHolds } from './journeys.ts';
import { attemptsInOrder, auditChain, decisionsTaken, needsListed, statusesAsConfigured } from './ledger-rows.ts';
import { nothingInLogs } from './logs.ts';
import {
  oneAttemptOneRequest,
  oneRequestPerNumber,
  oneTraceNumber,
  postedByGrants,
  postedOnce,
  postingsInLedger,
} from './postings.ts';
import { ownReferences } from './references.ts';
import { attemptsRunOnce } from './repeats.ts';
import { historiesReplay } from './replays.ts';
import { reportsInLedger } from './reports.ts';
import { reviewedRows } from './reviews.ts';
import { runsOnVersions } from './versions.ts';
import { eventsDelivered, eventsImpersonal, eventsInOrder, eventsSigned } from './webhooks.ts';
import { withdrawnShares } from './withdrawals.ts';
import { noClaimByOlderWriter } from './writers.ts';

export const INVARIANTS: readonly Invariant[] = [
  postedOnce,
  oneTraceNumber,
  postedByGrants,
  oneAttemptOneRequest,
  oneRequestPerNumber,
  postingsInLedger,
  ownReferences,
  everyRunEnds,
  noStuckRun,
  trueHolds,
  falseAlarms,
  reportsInLedger,
  standingConsent,
  noClaimAgainstRefusal,
  refusalAfterPosting,
  withdrawnShares,
  consentsKept,
  attemptsInOrder,
  statusesAsConfigured,
  decisionsTaken,
  needsListed,
  auditChain,
  attemptsRunOnce,
  historiesReplay,
  reviewedRows,
  runsOnVersions,
  noClaimByOlderWriter,
  eventsDelivered,
  eventsInOrder,
  eventsSigned,
  eventsImpersonal,
  answeredIsKept,
  appliedOnce,
  foreignLooksUnknown,
  nothingInLogs,
];

export async function checkInvariants(
  evidence: Evidence,
  invariants: readonly Invariant[] = INVARIANTS,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { name, judge } of invariants) verdicts.push({ name, ...(await judge(evidence)) });
  return verdicts;
}
