import { condition } from '@temporalio/workflow';
import type { PreparedRun } from '../activities/contract.ts';
import { parseDurationMs } from '../model/durations.ts';
import type { Applicant, JourneyOutcome, ReportOutcome } from '../model/shapes.ts';
import { compareWithReportBefore } from './comparisons.ts';
import { type InquiryHost, runInquiry } from './inquiry-protocol.ts';
import type { Journey, StageRecord } from './journey.ts';

const DEFAULT_GATE_EXPIRY = 'P30D';

/** Carries the stages through in their order; returns what came of the journey as far as stages decide it. */
export async function runStages(journey: Journey, run: PreparedRun): Promise<JourneyOutcome> {
  for (const stage of journey.stages) {
    const passed = await passGate(journey, stage);
    if (journey.isEnding) return skipRest(journey, 'withdrawn');
    if (!passed) {
      journey.changeStage(stage, { state: 'expired' });
      return skipRest(journey, 'expired');
    }
    const applicants = journey.advances.get(stage.status.productCode)?.applicants;
    if (applicants) journey.setApplicants(applicants);
    const outcome = await runStage(journey, run, stage);
    if (outcome) return skipRest(journey, outcome);
  }
  return 'completed';
}

function skipRest(journey: Journey, outcome: JourneyOutcome): JourneyOutcome {
  for (const stage of journey.stages) {
    if (stage.status.state === 'pending') journey.changeStage(stage, { state: 'skipped' });
  }
  return outcome;
}

/** Whether the gate was passed; it is not where it expired, nor where the run is ending. */
async function passGate(journey: Journey, { status }: StageRecord): Promise<boolean> {
  const gate = journey.gateBefore(status.productCode);
  const isOpen = () => journey.isEnding || journey.advances.has(status.productCode);
  if (!gate || gate.pass === 'auto' || isOpen()) return true;
  const expiresAfter = gate.expiresAfter ?? DEFAULT_GATE_EXPIRY;
  journey.gate = status.productCode;
  const expiresAfterMs = parseDurationMs(expiresAfter) ?? 0;
  const until = new Date(Date.now() + expiresAfterMs).toISOString();
  journey.gateTimes = { since: new Date().toISOString(), until };
  journey.events.emit('gate.reached', [status.productCode], { stage: status.productCode, until });
  const summary = `gate before ${status.productCode}: waiting for advance, ${expiresAfter} at the most`;
  const passed = await condition(isOpen, expiresAfterMs, { summary });
  journey.gate = undefined;
  return passed;
}

/** The journey's outcome where the stage ends it, else nothing. */
async function runStage(journey: Journey, run: PreparedRun, stage: StageRecord): Promise<JourneyOutcome | undefined> {
  const { status } = stage;
  const { endUserCode, permissiblePurposeCodes } = journey.input;
  const permissiblePurposeCode = permissiblePurposeCodes[status.productCode];
  const end = await runInquiry(hostOf(journey, run, stage), {
    callerId: journey.journeyId,
    productCode: status.productCode,
    endUserCode,
    ...(permissiblePurposeCode === undefined ? {} : { permissiblePurposeCode }),
    applicants: journey.applicants,
  });
  switch (end.kind) {
    case 'answered':
      // Those of the start, or of an amendment that was held against the reports' table.
      if (end.applicants) journey.setApplicants(end.applicants as Applicant[]);
      return settle(journey, run, stage, end.answer);
    case 'abandoned':
      journey.changeStage(stage, { state: 'abandoned' });
      journey.stageWasAbandoned = true;
      journey.flights.recheck();
      return 'abandoned';
    case 'stopped':
    case 'notPermitted':
      journey.changeStage(stage, { state: 'skipped' });
      return 'withdrawn';
  }
}

function settle(
  journey: Journey,
  run: PreparedRun,
  stage: StageRecord,
  { outcome, reference }: { outcome: ReportOutcome; reference?: StageRecord['reference'] },
): JourneyOutcome | undefined {
  journey.changeStage(stage, { state: outcome });
  if (reference) {
    stage.reference = reference;
    stage.status.reportReferenceNumber = reference.reportReferenceNumber;
    compareWithReportBefore(journey, run, stage);
  }
  tellAnswered(journey, stage, outcome);
  if (journey.withdrawal) return 'withdrawn';
  return outcome !== 'record' && (journey.input.onNoRecord ?? 'stop') === 'stop' ? 'stopped' : undefined;
}

function tellAnswered(journey: Journey, { status }: StageRecord, outcome: ReportOutcome): void {
  const { productCode, customerTraceNumber, attempts } = status;
  journey.events.emit('stage.answered', [productCode, customerTraceNumber ?? ''], {
    stage: productCode,
    outcome,
    ...(customerTraceNumber === undefined ? {} : { customerTraceNumber }),
    attempts,
  });
}

function hostOf(journey: Journey, run: PreparedRun, stage: StageRecord): InquiryHost {
  return {
    run,
    flights: journey.flights,
    holds: journey.holds,
    isEnding: () => journey.isEnding,
    onProgress: ({ customerTraceNumber, attempts, state, waitingFor }) => {
      journey.changeStage(stage, { customerTraceNumber, attempts, state });
      journey.noteRetry(customerTraceNumber, waitingFor);
      journey.publish(stage.status.productCode);
    },
  };
}
