/** Stages: which pull comes next, and its outcome. */
import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { JourneyOutcome } from '../../messages/journey/shapes.ts';
import type { Applicant } from '../../model/applicant.ts';
import { toStageInquiry } from '../../model/stage-end-user.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import type { InquiryContext, InquiryEnd, InquirySpec } from '../inquiry/inquiry-spec.ts';
import { passGate, toRepeatDecision } from './advances.ts';
import { findPreviousReport, takeChanges } from './comparisons.ts';
import type { Journey, StageRecord } from './journey.ts';

/**
 * Runs the stages in their order, and the repeats that people ask for until the run closes. Returns the journey's
 * outcome as far as stages decide it.
 */
export async function runStages(journey: Journey, config: RunConfig): Promise<JourneyOutcome> {
  // An earlier run has ended the stages.
  if (journey.stagesEndedAs) return journey.stagesEndedAs;
  for (;;) {
    const stage = journey.stages.find(({ inquiry }) => inquiry !== undefined) ?? journey.nextStage;
    if (!stage) {
      publishConsentWaits(journey);
      await journey.continuation.wait(() => journey.nextStage !== undefined || journey.isEnding || journey.isClosing);
      if (journey.nextStage) continue;
      return 'completed';
    }
    if (!stage.inquiry) {
      const passed = await passGate(journey, stage);
      if (journey.isEnding) return skipRest(journey, 'withdrawn');
      if (journey.decided.asksToSkip(stage.status.productCode)) {
        // In the workflow task that opened the gate, or before a stage without a gate.
        await journey.continuation.wait(
          () => journey.isEnding || !journey.decided.asksToSkip(stage.status.productCode),
        );
        continue;
      }
      // Another stage is next: a repeat was requested, or this stage was skipped, perhaps in the workflow task that
      // opened the gate.
      if (passed === 'otherStage' || stage.status.state !== 'pending') continue;
      if (passed === 'expired') {
        journey.changeStage(stage, { state: 'expired' });
        return skipRest(journey, 'expired');
      }
      takeApplicants(journey, stage);
    }
    const inquiry = findInquiry(journey, stage);
    const end = inquiry && (await runInquiry(createHost(journey, config, stage), inquiry));
    delete stage.inquiry;
    const outcome = end && endStage(journey, stage, end);
    const { applicantsBefore } = stage;
    delete stage.applicantsBefore;
    if (outcome) return skipRest(journey, outcome);
    // An abandoned repeat leaves the stage unchanged.
    if (stage.status.state === 'abandoned' && applicantsBefore) journey.setApplicants(applicantsBefore);
  }
}

function takeApplicants(journey: Journey, stage: StageRecord): void {
  const { productCode } = stage.status;
  const applicants = stage.repeat ? stage.repeat.applicants : journey.advances.get(productCode)?.applicants;
  stage.applicantsBefore = journey.applicants;
  if (applicants) journey.setApplicants(applicants);
}

function skipRest(journey: Journey, outcome: JourneyOutcome): JourneyOutcome {
  journey.stagesEndedAs = outcome;
  for (const stage of journey.stages) {
    if (stage.status.state === 'pending') journey.changeStage(stage, { state: 'skipped' });
  }
  publishConsentWaits(journey);
  return outcome;
}

/** A share that waits is listed once no stage runs. */
function publishConsentWaits(journey: Journey): void {
  if (journey.sharesInWait.length > 0) journey.publish();
}

/** Returns the stage's inquiry; `undefined` if the stage is skipped instead. */
function findInquiry(journey: Journey, stage: StageRecord): InquirySpec | undefined {
  const { status } = stage;
  const { inquiry } = stage;
  const firstOrdinal = inquiry?.ordinal ?? journey.computeNextOrdinal(status.productCode);
  if (firstOrdinal > MAX_ORDINAL) {
    // Amendments have used up the trace numbers that a waiting repeat was promised.
    journey.changeStage(stage, { state: 'skipped' });
    return undefined;
  }
  const compareWith = findPreviousReport(journey, stage);
  return {
    ...toStageInquiry(journey.input, status.productCode),
    applicants: inquiry?.applicants ?? journey.applicants,
    firstOrdinal,
    ...omitUndefined({ resume: inquiry, compareWith, repeat: stage.repeat && toRepeatDecision(stage.repeat) }),
  };
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
      journey.stageWasAbandoned = true;
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
  { answer, applicants = journey.applicants, changes }: Extract<InquiryEnd, { kind: 'answered' }>,
): JourneyOutcome | undefined {
  const { outcome, reference } = answer;
  const answered = journey.takeAnswer(stage, answer, applicants);
  if (reference) {
    stage.personsAt = journey.persons.list.length;
    takeChanges(journey, stage, changes);
  }
  const { productCode, attention } = stage.status;
  journey.events.emit('stage.answered', [productCode, answered.customerTraceNumber ?? ''], {
    stage: productCode,
    ...answered,
    ...omitUndefined({ attention }),
  });
  if (journey.withdrawal) return 'withdrawn';
  return outcome !== 'record' && (journey.input.onNoRecord ?? 'stop') === 'stop' ? 'stopped' : undefined;
}

function createHost(journey: Journey, config: RunConfig, stage: StageRecord): InquiryContext {
  const { onStanding, ...host } = journey.createStepHost(config, stage);
  return {
    ...host,
    onStanding: (standing) => {
      onStanding(standing);
      // An amendment names its applicants from its first attempt on.
      if (standing.applicants) journey.persons.name(standing.applicants);
    },
  };
}
