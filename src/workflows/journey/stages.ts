/** Stages: which pull comes next, and its outcome. */
import { workflowInfo } from '@temporalio/workflow';
import type { ComparedReport } from '../../activities/contract.ts';
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { StageChanges } from '../../messages/journey/change-summary.ts';
import type { JourneyOutcome } from '../../messages/journey/shapes.ts';
import type { Applicant } from '../../model/applicant.ts';
import { REPORT_CHANGED } from '../../model/inquiry.ts';
import { COMPARED_STAGES } from '../../model/products.ts';
import { toStageInquiry } from '../../model/stage-end-user.ts';
import { describeInquiry, MAX_ORDINAL } from '../../model/trace-number.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import type { InquiryEnd } from '../inquiry/inquiry-spec.ts';
import { passGate, recordRepeat } from './advances.ts';
import type { Journey, StageRecord } from './journey.ts';

/** Whether the stages have work that no task of them does: a first pull, a repeat, or a pull that an earlier run began. */
export function mustRunStages(journey: Journey): boolean {
  return !journey.isRunningStages && findStage(journey) !== undefined;
}

function findStage({ stages, nextStage }: Journey): StageRecord | undefined {
  return stages.find(({ inquiry }) => inquiry !== undefined) ?? nextStage;
}

/** Runs the stages in their order until none is left, or one of them ends the journey. */
export async function runStages(journey: Journey): Promise<void> {
  const { continuation, decided } = journey;
  journey.isRunningStages = true;
  for (let stage = findStage(journey); stage; stage = findStage(journey)) {
    if (!stage.inquiry) {
      const passed = await passGate(journey, stage);
      if (journey.isEnding) return skipRest(journey, 'withdrawn');
      if (decided.isBusy) {
        // It may skip the stage, or extend its wait.
        await continuation.wait(() => journey.isEnding || !decided.isBusy);
        continue;
      }
      // Another stage is next: a repeat was requested, or this stage was skipped, perhaps in the workflow task that
      // opened the gate.
      if (passed === 'otherStage' || stage.status.state !== 'pending') continue;
      if (passed === 'expired') {
        journey.changeStage(stage, { state: 'expired' });
        return skipRest(journey, 'expired');
      }
      const { applicants } = stage.repeat ?? journey.state.advances[stage.status.productCode] ?? {};
      stage.applicantsBefore = journey.state.applicants;
      if (applicants) journey.setApplicants(applicants);
    }
    const end = await pullStage(journey, stage);
    delete stage.inquiry;
    const outcome = end && endStage(journey, stage, end);
    const { applicantsBefore } = stage;
    delete stage.applicantsBefore;
    if (outcome) return skipRest(journey, outcome);
    // An abandoned repeat leaves the stage unchanged.
    if (stage.status.state === 'abandoned' && applicantsBefore) journey.setApplicants(applicantsBefore);
  }
  finishStages(journey);
}

function skipRest(journey: Journey, outcome: JourneyOutcome): void {
  journey.state.stagesEndedAs = outcome;
  for (const stage of journey.stages) {
    if (stage.status.state === 'pending') journey.changeStage(stage, { state: 'skipped' });
  }
  finishStages(journey);
}

/** Shares that wait are listed once no stage runs. */
function finishStages(journey: Journey): void {
  journey.isRunningStages = false;
  if (journey.sharesInWait.length > 0) journey.publish();
}

/** Carries the stage's inquiry to its end; returns `undefined` if the stage is skipped instead. */
function pullStage(journey: Journey, stage: StageRecord): Promise<InquiryEnd> | undefined {
  const { status, inquiry, repeat } = stage;
  const firstOrdinal = inquiry?.ordinal ?? journey.computeNextOrdinal(status.productCode);
  if (firstOrdinal > MAX_ORDINAL) {
    // Amendments have used up the trace numbers that a waiting repeat was promised.
    journey.changeStage(stage, { state: 'skipped' });
    return undefined;
  }
  const asked = toStageInquiry(journey.input, status.productCode);
  const pull = () =>
    runInquiry(journey, {
      ...asked,
      applicants: inquiry?.applicants ?? journey.state.applicants,
      firstOrdinal,
      compareWith: findPreviousReport(journey, stage),
      part: stage,
      onProgress: (progress) => journey.noteProgress(stage, progress),
    });
  if (!repeat || inquiry) return pull();
  const { workflowType } = workflowInfo();
  const repeated = describeInquiry({ ...journey.accepted, workflowType }, asked, firstOrdinal);
  return recordRepeat(journey.accepted, repeated, repeat).then((isMade) => (isMade ? pull() : { kind: 'abandoned' }));
}

/** Returns the journey's outcome if the stage ends the journey. */
function endStage(journey: Journey, stage: StageRecord, end: InquiryEnd): JourneyOutcome | undefined {
  switch (end.kind) {
    case 'answered':
      // These are the applicants of the start, or of an amendment that was checked against the reports' table.
      if (end.applicants) journey.setApplicants(end.applicants as Applicant[]);
      return settle(journey, stage, end);
    case 'abandoned':
      journey.changeStage(stage, { state: 'abandoned' });
      // The journey keeps the report that the repeat was to replace, and continues.
      if (stage.repeat) return undefined;
      journey.inFlight.recheck();
      return 'abandoned';
    case 'stopped':
    case 'notPermitted':
      journey.changeStage(stage, { state: 'skipped' });
      return 'withdrawn';
  }
}

function settle(
  journey: Journey,
  stage: StageRecord,
  { answer, applicants = journey.state.applicants, changes }: Extract<InquiryEnd, { kind: 'answered' }>,
): JourneyOutcome | undefined {
  const { outcome, reference } = answer;
  const answered = journey.takeAnswer(stage, answer, applicants);
  if (reference) {
    stage.personsAt = journey.state.persons.length;
    takeChanges(journey, stage, changes);
  }
  const { productCode, attention } = stage.status;
  journey.events.emit('stage.answered', [productCode, answered.customerTraceNumber ?? ''], {
    stage: productCode,
    ...answered,
    attention,
  });
  if (journey.state.withdrawal) return 'withdrawn';
  return outcome !== 'record' && (journey.input.onNoRecord ?? 'stop') === 'stop' ? 'stopped' : undefined;
}

// The changes between a preclose report and the journey's report before it. The attempt compares the two.

/** Returns the report that a stage's own is compared with: for a preclose report, the journey's latest one before it. */
function findPreviousReport(journey: Journey, stage: StageRecord): ComparedReport | undefined {
  if (!COMPARED_STAGES.includes(stage.status.productCode)) return undefined;
  const before = journey.stages.slice(0, journey.stages.indexOf(stage));
  const { productCode, customerTraceNumber } = before.findLast(({ reference }) => reference)?.status ?? {};
  return productCode && customerTraceNumber !== undefined ? { productCode, customerTraceNumber } : undefined;
}

/**
 * Notes the changes, and flags the stage if an operator should look at it before closing.
 *
 * @param compared absent if the attempt that had the answer was lost before it compared
 */
function takeChanges(journey: Journey, stage: StageRecord, compared: StageChanges | undefined): void {
  const earlier = findPreviousReport(journey, stage);
  if (!earlier) return;
  const { status } = stage;
  const changes = compared ?? { comparedWith: earlier.productCode, unavailable: 'notCompared' };
  status.changes = changes;
  if (!isAbove(changes, journey.input.attentionAbove)) return;
  const { productCode, customerTraceNumber } = status;
  // A flag that the report may be another person's has priority.
  if (status.attention === undefined && customerTraceNumber !== undefined) {
    journey.decided.flag({ reason: REPORT_CHANGED, customerTraceNumber });
  }
  status.attention ??= REPORT_CHANGED;
  journey.publish();
  journey.events.emit('stage.changed', [productCode, customerTraceNumber ?? ''], {
    stage: productCode,
    customerTraceNumber,
    attention: REPORT_CHANGED,
  });
}

/** A report that could not be compared counts as above every threshold. */
function isAbove(changes: StageChanges, most: LendingJourneyInput['attentionAbove']): boolean {
  if (!most) return false;
  if ('unavailable' in changes) return true;
  const { counts } = changes;
  return (Object.keys(most) as (keyof typeof most)[]).some((name) => counts[name] > (most[name] ?? counts[name]));
}
