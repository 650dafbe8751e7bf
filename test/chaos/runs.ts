/** Every run of a plan: its start, and its messages in the storm and at the end. */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { HoldStatus, JourneyStatus } from '../../src/messages/journey/shapes.ts';
import type { PullResult } from '../../src/messages/pull/shapes.ts';
import { parseRunKey, toRunKey } from '../../src/model/run-key.ts';
import { activityCommands } from '../hazards/operator-hands.ts';
import { formatCsvLine, HEADER } from '../support/portfolio-files.ts';
import { aMomentAgo, applicantsOf, consentOf, inputOf } from './journey-inputs.ts';
import type { JourneyPlan, Plan } from './plan.ts';
import type { OthersPlan, ReviewPlan, ShareReportPlan } from './plan-others.ts';
import { moveIfLeftBehind } from './storm/deploys.ts';
import type { Scene } from './storm/strike.ts';

export interface PlannedRun {
  runKey: string;
  workflowType: 'lendingJourney' | 'creditReport' | 'failsafeCheck' | 'shareReport' | 'portfolioReview';
  atMs: number;
  input: object;
  leaveHeld: boolean;
  /** SSNs of its applicants. Empty for a review, whose rows have their own. */
  ssns: readonly string[];
  /** A number in [0, 1) that chooses the workflow task to which it is reset once it is at rest. */
  resetAtRest?: number;
  journey?: JourneyPlan;
  share?: ShareReportPlan;
  review?: ReviewPlan;
}

/** The status members that all kinds of runs have. */
interface RunStatus {
  state: string;
  waitingFor?: string;
  consentsMissing?: string[];
  holds: HoldStatus[];
}

const PURPOSE = '01';
const SECONDARY_PURPOSE = '02';
/** The name of the only portfolio file, in the end user's folder. */
export const PORTFOLIO_FILE = 'accounts.csv';
/** After this time a held run is at rest: it waits for a decision that no operator takes. */
const HOLD_IS_FINAL_AFTER_MS = 4_000;

const NONE: OthersPlan = { pulls: [], shares: [], reviews: [] };

export function runsOf({ journeys, others = NONE }: Plan): PlannedRun[] {
  const pulls = others.pulls.map(({ pullId, productCode, endUserCode, ssns, ...rest }): PlannedRun => {
    const applicants = applicantsOf(ssns);
    const input = { pullId, productCode, endUserCode, permissiblePurposeCode: PURPOSE, applicants };
    const workflowType = productCode === 'FAILSAFE' ? 'failsafeCheck' : 'creditReport';
    return { runKey: toRunKey('pull', pullId), workflowType, input, ssns, ...rest };
  });
  const shares = others.shares.flatMap((share): PlannedRun[] => {
    const { shareId, pullId, atMs, endUserCode, leaveHeld } = share;
    const pull = others.pulls.find((one) => one.pullId === pullId);
    if (!pull) return [];
    const report = { pullId, productCode: pull.productCode };
    const input = { shareId, report, endUserCode, permissiblePurposeCode: SECONDARY_PURPOSE };
    const runKey = toRunKey('share', shareId);
    return [{ runKey, workflowType: 'shareReport', atMs, input, leaveHeld, ssns: pull.ssns, share }];
  });
  const reviews = others.reviews.map((review): PlannedRun => {
    const { reviewId, atMs, endUserCode, window } = review;
    const input = { reviewId, file: PORTFOLIO_FILE, endUserCode, permissiblePurposeCode: PURPOSE, window };
    const runKey = toRunKey('portfolio', reviewId);
    return { runKey, workflowType: 'portfolioReview', atMs, input, leaveHeld: false, ssns: [], review };
  });
  return [
    ...journeys.map(
      (journey): PlannedRun => ({
        ...{ runKey: journey.journeyId, workflowType: 'lendingJourney', input: inputOf(journey), journey },
        ...{ atMs: journey.atMs, leaveHeld: journey.leaveHeld, ssns: journey.ssns },
        ...(journey.resetAtRest === undefined ? {} : { resetAtRest: journey.resetAtRest }),
      }),
    ),
    ...pulls,
    ...shares,
    ...reviews,
  ];
}

/** The rows of a review, as its file has them. */
export function portfolioText({ ssns }: ReviewPlan): string {
  const lines = ssns.map((ssn) => formatCsvLine(Number(ssn.slice(1, 5)), ssn.slice(5)));
  return `${[HEADER, ...lines].join('\n')}\n`;
}

/** Starts it as the typed client does. `false` if there is no report yet that it could share. */
export async function startRun(run: PlannedRun, scene: Scene): Promise<boolean> {
  if (run.share && (await sharable(run.share, scene)) !== 'yes') return false;
  await scene.people.start(run.runKey, run.workflowType, run.input);
  return true;
}

/** `never` if its pull is at rest and has no record. */
async function sharable({ pullId }: ShareReportPlan, { people }: Scene) {
  const handle = people.handle(toRunKey('pull', pullId));
  const described = await people.patiently(() => handle.describe()).catch(() => undefined);
  if (described?.status.name === 'CANCELLED') return 'never';
  if (described?.status.name !== 'COMPLETED') return 'notYet';
  const result = (await people.patiently(() => handle.result())) as unknown as PullResult;
  return result.outcome === 'record' ? 'yes' : 'never';
}

/** In the storm: once, of every applicant. */
export async function sayAbout({ share, runKey, ssns }: PlannedRun, { people }: Scene): Promise<boolean> {
  if (!share || share.says === 'silence') return false;
  for (const { applicantId } of applicantsOf(ssns)) {
    await people.sendConsent(consentToShare(share, { runKey, applicantId, consentId: `C-${applicantId}` }), 'signal');
  }
  return true;
}

function consentToShare(
  { shareId, endUserCode, says }: ShareReportPlan,
  { runKey, applicantId, consentId }: { runKey: string; applicantId: string; consentId: string },
): ConsentMessage {
  const decision = says === 'denied' ? says : 'granted';
  const said = { atMs: 0, shareId, applicantId, consentId, decision, by: 'signal', copies: 1 } as const;
  return consentOf(runKey, said, [{ shareId, endUserCode, inTheEnd: says }], aMomentAgo());
}

export async function pauseFor(run: PlannedRun, { people }: Scene, forMs: number): Promise<boolean> {
  await tell(run, people, 'pause');
  await delay(forMs);
  await tell(run, people, 'resume');
  return true;
}

async function tell({ runKey }: PlannedRun, people: Scene['people'], name: 'pause' | 'resume'): Promise<void> {
  const message = { reviewId: parseRunKey(runKey).id, by: 'operator', reason: 'a look at it' };
  await people.update(runKey, name, message);
}

export interface Look {
  /** `at rest`, or what it waits for. */
  state: string;
  /** How many were accepted. */
  decisions: number;
}

/** Sends the messages that are still missing. */
export async function goOn(run: PlannedRun, scene: Scene): Promise<Look> {
  const { people, world, operator } = scene;
  const { runKey, leaveHeld } = run;
  const handle = people.handle(runKey);
  const described = await people
    .patiently(() => handle.describe())
    .catch((error) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
  const wasEnded = described?.status.name === 'TERMINATED' && !people.books.cancelled.has(runKey);
  if (!described || wasEnded) return { state: await begin(run, scene), decisions: 0 };
  if (described.status.name !== 'RUNNING') return { state: 'at rest', decisions: 0 };
  await moveIfLeftBehind(world, described);
  for (const { paused, activityId } of described.raw.pendingActivities ?? []) {
    if (paused && activityId) await people.patiently(activityCommands(world, handle, activityId).unpause);
  }
  const status = (await people.status(runKey)) as RunStatus;
  const isFinal = status.holds.every(({ since }) => Date.now() - Date.parse(since) > HOLD_IS_FINAL_AFTER_MS);
  if (leaveHeld && status.state === 'held' && isFinal) return { state: 'at rest', decisions: 0 };
  const decisions = await operator.resolve(run, status.holds);
  const act = run.journey
    ? actInJourney(run.journey, status as JourneyStatus, people)
    : actInOther(run, status, people);
  return { state: (await act) ?? status.waitingFor ?? status.state, decisions };
}

async function begin(run: PlannedRun, scene: Scene): Promise<string> {
  if (run.share) {
    const can = await sharable(run.share, scene);
    const { pullId } = run.share;
    const pull = scene.world.plan.others?.pulls.find((one) => one.pullId === pullId);
    if (can === 'never' || (can === 'notYet' && pull?.leaveHeld)) return 'at rest';
  }
  return (await startRun(run, scene)) ? 'started' : 'waits for its report';
}

/** Resolves with the state where that alone decides it. */
async function actInOther(run: PlannedRun, status: RunStatus, people: Scene['people']): Promise<string | undefined> {
  const { share, runKey } = run;
  if (status.state === 'paused') await tell(run, people, 'resume');
  if (status.state !== 'waitingForConsent' || !share) return undefined;
  if (share.says === 'silence') return 'at rest';
  for (const applicantId of status.consentsMissing ?? []) {
    await people.sendUntilItCounts(`${runKey} ${applicantId}`, (nth) =>
      consentToShare(share, { runKey, applicantId, consentId: `END-${applicantId}-${nth}` }),
    );
  }
  return undefined;
}

/** The messages that the platform and the consumers still have to send. */
async function actInJourney(
  plan: JourneyPlan,
  status: JourneyStatus,
  people: Scene['people'],
): Promise<string | undefined> {
  const { journeyId } = plan;
  if (status.state === 'waitingAtGate') {
    const next = plan.stages.find((stage) => status.waitingFor === stage);
    if (next) await people.advance(journeyId, next);
    return undefined;
  }
  const missing = plan.shares.filter(({ shareId }) => !status.shares.some((one) => one.shareId === shareId));
  for (const share of missing) await people.requestShare(journeyId, share).catch(() => {});
  if (status.state === 'waitingForConsent') return sayTheRest(plan, status, people);
  const isOpenForShares = plan.sharesOpenForSeconds !== undefined && status.holds.length === 0;
  if (isOpenForShares && isDone(status) && missing.length === 0) await people.withdraw(journeyId);
  return undefined;
}

function isDone({ stages, shares }: JourneyStatus): boolean {
  return (
    stages.every(({ state }) => !['pending', 'running', 'held'].includes(state)) &&
    shares.every(({ state }) => !['awaitingConsent', 'posting', 'held'].includes(state))
  );
}

async function sayTheRest(
  { journeyId, shares }: JourneyPlan,
  status: JourneyStatus,
  people: Scene['people'],
): Promise<string | undefined> {
  const waiting = status.shares.filter(({ state }) => state === 'awaitingConsent');
  const answerTo = (shareId: string) => shares.find((share) => share.shareId === shareId)?.inTheEnd;
  const isSilent = waiting.every(({ shareId }) => answerTo(shareId) === 'silence');
  if (isSilent && status.holds.length === 0) return 'at rest';
  for (const { shareId, waitingFor } of waiting) {
    const decision = answerTo(shareId);
    if (decision === undefined || decision === 'silence') continue;
    for (const applicantId of waitingFor) {
      const said = { atMs: 0, shareId, applicantId, decision, by: 'update', copies: 1 } as const;
      await people.sendUntilItCounts(`${journeyId} ${shareId} ${applicantId}`, (nth) =>
        consentOf(journeyId, { ...said, consentId: `END-${shareId}-${applicantId}-${nth}` }, shares, aMomentAgo()),
      );
    }
  }
  return undefined;
}
