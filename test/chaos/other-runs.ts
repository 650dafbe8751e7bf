/** Pulls, shares by themselves and reviews as runs: what starts them, and what is left to do until they are at rest. */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { HoldStatus } from '../../src/messages/journey/shapes.ts';
import type { PullResult } from '../../src/messages/pull/shapes.ts';
import { parseRunKey, toRunKey } from '../../src/model/run-key.ts';
import { activityCommands } from '../hazards/operator-hands.ts';
import { csvLine, HEADER } from '../support/portfolio-files.ts';
import { aMomentAgo, applicantsOf, consentOf } from './journey-inputs.ts';
import type { Plan } from './plan.ts';
import type { OthersPlan, ReviewPlan, ShareReportPlan } from './plan-others.ts';
import { moveIfLeftBehind } from './storm/deploys.ts';
import type { Scene } from './storm/strike.ts';

export interface OtherRun {
  runKey: string;
  workflowType: 'creditReport' | 'failsafeCheck' | 'shareReport' | 'portfolioReview';
  atMs: number;
  input: object;
  leaveHeld: boolean;
  /** SSNs of its applicants. Empty for a review, whose rows have their own. */
  ssns: readonly string[];
  /** In [0, 1): to which of its workflow tasks it is reset once it is at rest. */
  resetAtRest?: number;
  share?: ShareReportPlan;
  review?: ReviewPlan;
}

/** What all of them say of how they stand. */
export interface OtherStatus {
  state: string;
  waitingFor?: string;
  consentsMissing?: string[];
  holds: HoldStatus[];
}

export const PURPOSE = '01';
const SECONDARY_PURPOSE = '02';
/** Of the one portfolio's file, in the end user's folder. */
export const PORTFOLIO_FILE = 'accounts.csv';
/** From then on a run waits for a person who never comes. */
const HOLD_IS_FINAL_AFTER_MS = 4_000;

const NONE: OthersPlan = { pulls: [], shares: [], reviews: [] };

export function otherRunsOf({ others = NONE }: Plan): OtherRun[] {
  const pulls = others.pulls.map(({ pullId, productCode, endUserCode, ssns, ...rest }): OtherRun => {
    const applicants = applicantsOf(ssns);
    const input = { pullId, productCode, endUserCode, permissiblePurposeCode: PURPOSE, applicants };
    const workflowType = productCode === 'FAILSAFE' ? 'failsafeCheck' : 'creditReport';
    return { runKey: toRunKey('pull', pullId), workflowType, input, ssns, ...rest };
  });
  const shares = others.shares.flatMap((share): OtherRun[] => {
    const { shareId, pullId, atMs, endUserCode, leaveHeld } = share;
    const pull = others.pulls.find((one) => one.pullId === pullId);
    if (!pull) return [];
    const report = { pullId, productCode: pull.productCode };
    const input = { shareId, report, endUserCode, permissiblePurposeCode: SECONDARY_PURPOSE };
    const runKey = toRunKey('share', shareId);
    return [{ runKey, workflowType: 'shareReport', atMs, input, leaveHeld, ssns: pull.ssns, share }];
  });
  const reviews = others.reviews.map((review): OtherRun => {
    const { reviewId, atMs, endUserCode, window } = review;
    const order = { file: PORTFOLIO_FILE, endUserCode, permissiblePurposeCode: PURPOSE, window };
    const runKey = toRunKey('portfolio', reviewId);
    const input = { reviewId, ...order };
    return { runKey, workflowType: 'portfolioReview', atMs, input, leaveHeld: false, ssns: [], review };
  });
  return [...pulls, ...shares, ...reviews];
}

/** The rows of a review, as its file has them. */
export function portfolioText({ ssns }: ReviewPlan): string {
  const lines = ssns.map((ssn) => csvLine(Number(ssn.slice(1, 5)), ssn.slice(5)));
  return `${[HEADER, ...lines].join('\n')}\n`;
}

/** As the typed client does. `false`: there is nothing yet that it could share. */
export async function startOther(run: OtherRun, { people, world }: Scene): Promise<boolean> {
  if (run.share && (await sharable(run.share, { people, world })) !== 'yes') return false;
  await people.startRun(run.runKey, run.workflowType, run.input);
  return true;
}

/** `never`: its pull has come to rest, and has no record. */
async function sharable({ pullId }: ShareReportPlan, { people }: Pick<Scene, 'people' | 'world'>) {
  const handle = people.handle(toRunKey('pull', pullId));
  const described = await people.patiently(() => handle.describe()).catch(() => undefined);
  if (described?.status.name === 'CANCELLED') return 'never';
  if (described?.status.name !== 'COMPLETED') return 'notYet';
  const result = (await people.patiently(() => handle.result())) as unknown as PullResult;
  return result.outcome === 'record' ? 'yes' : 'never';
}

/** In the storm: once, of every applicant. */
export async function sayAbout({ share, runKey, ssns }: OtherRun, { people }: Scene): Promise<boolean> {
  if (!share || share.says === 'silence') return false;
  for (const { applicantId } of applicantsOf(ssns)) {
    await people.sendConsent(consentToShare(share, { runKey, applicantId, consentId: `C-${applicantId}` }), 'signal');
  }
  return true;
}

/** In the end: of those for whom it still waits. */
async function sayTheRest(
  { share, runKey }: OtherRun,
  { people }: Scene,
  missing: readonly string[],
): Promise<boolean> {
  if (!share || share.says === 'silence') return false;
  for (const applicantId of missing) {
    await people.sendUntilItCounts(`${runKey} ${applicantId}`, (nth) =>
      consentToShare(share, { runKey, applicantId, consentId: `END-${applicantId}-${nth}` }),
    );
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

export async function pauseFor(run: OtherRun, { people }: Scene, forMs: number): Promise<boolean> {
  await tell(run, people, 'pause');
  await delay(forMs);
  await tell(run, people, 'resume');
  return true;
}

async function tell({ runKey }: OtherRun, people: Scene['people'], name: 'pause' | 'resume'): Promise<void> {
  const message = { reviewId: parseRunKey(runKey).id, by: 'operator', reason: 'a look at it' };
  await people.update(runKey, name, message);
}

/** Does what people have left to do. `at rest`, or what it waits for; and how many decisions were taken. */
export async function goOnOther(run: OtherRun, scene: Scene): Promise<{ state: string; decisions: number }> {
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
  const status = (await people.status(runKey)) as unknown as OtherStatus;
  const isFinal = status.holds.every(({ since }) => Date.now() - Date.parse(since) > HOLD_IS_FINAL_AFTER_MS);
  if (leaveHeld && status.state === 'held' && isFinal) return { state: 'at rest', decisions: 0 };
  const decisions = await operator.resolve(decidedAs(run), status.holds);
  if (status.state === 'paused') await tell(run, people, 'resume');
  if (status.state === 'waitingForConsent' && !(await sayTheRest(run, scene, status.consentsMissing ?? []))) {
    return { state: 'at rest', decisions };
  }
  return { state: status.waitingFor ?? status.state, decisions };
}

async function begin(run: OtherRun, scene: Scene): Promise<string> {
  if (run.share) {
    const can = await sharable(run.share, scene);
    if (can === 'never' || (can === 'notYet' && (await isHeldForGood(run.share, scene)))) return 'at rest';
  }
  return (await startOther(run, scene)) ? 'started' : 'waits for its report';
}

async function isHeldForGood({ pullId }: ShareReportPlan, { world }: Scene): Promise<boolean> {
  return world.plan.others?.pulls.find((one) => one.pullId === pullId)?.leaveHeld ?? false;
}

/** How an operator knows it. */
export function decidedAs({ runKey, leaveHeld, ssns }: OtherRun) {
  return { journeyId: runKey, leaveHeld, ssns };
}
