/** What a worker does with an attempt, step by step as `src/activities/submit-inquiry.ts`: claim, send, record, report. */
import { type Claimed, claim, recordOutcome, rowsOf, whyNothingMayBeSent } from './explorer-ledger.ts';
import { inPhase, type Step, stepOfView, toFailedStep } from './explorer-run.ts';
import { endNamed, type Scene, spend, takeStep } from './explorer-scene.ts';
import type { Execution, World } from './explorer-world.ts';

/** Emits each next step of the worker, and its crash. */
export function workerGoesOn(scene: Scene, execution: Execution): void {
  const { attempt, of, phase } = execution;
  const who = `worker (attempt ${attempt} of ${of}${execution.isWanted ? '' : ', given up by Temporal'})`;
  switch (phase) {
    case 'started':
      claims(scene, execution, who);
      break;
    case 'claimed':
      if (!execution.isLate || scene.mutation.sendsLate) sends(scene, execution, who);
      becomes(scene, `${who} does not send`, execution, { phase: 'ended', end: endNamed('notSent', of) });
      break;
    case 'ended':
      records(scene, execution, who);
      break;
    case 'recorded':
      reports(scene, `${who} reports its end`, execution, true);
      break;
  }
  const { world, emit } = scene;
  const { crashes } = world.budget;
  // When the run no longer waits for an execution, its crash equals its giving up silently, which costs no budget.
  if (crashes === 0 || !execution.isWanted) return;
  emit(`crash of ${who}, ${phase}`, {
    ...world,
    ...spend(scene, { crashes: crashes - 1 }),
    executions: without(world, execution),
    run: inPhase(world.run, { kind: 'lookUp' }),
  });
}

function claims(scene: Scene, execution: Execution, who: string): void {
  const { ledger, budget } = scene.world;
  const { attempt } = execution;
  const claimed: Claimed = claim(ledger, execution, attempt, scene.mutation.rules);
  switch (claimed.kind) {
    case 'claimed': {
      const change = { phase: 'claimed' as const, copy: ledger.copy };
      becomes(scene, `${who} claims`, execution, change, { ledger: claimed.ledger }, claimed.violation);
      if (budget.crashes === 0) break;
      const cut = { ...spend(scene, { crashes: budget.crashes - 1 }), ledger: claimed.ledger };
      lands(scene, `${who} claims, and is not told`, execution, toFailedStep('LedgerUnavailable', attempt), cut);
      break;
    }
    case 'latest': {
      const { view, ledger: settled } = claimed;
      lands(scene, `${who} finds ${view.state}`, execution, stepOfView(view), { ledger: settled });
      break;
    }
    case 'requestDiffers':
      lands(scene, `${who} finds another request`, execution, toFailedStep('RequestDiffers', attempt));
      break;
    case 'anotherNumber':
      lands(scene, `${who} finds another number`, execution, toFailedStep('AnotherNumber', attempt));
      break;
    case 'ledgerRestored':
      lands(scene, `${who} finds an older copy`, execution, toFailedStep('LedgerRestored', attempt));
      break;
    case 'paused':
      lands(scene, `${who} is told that inquiries are paused`, execution, toFailedStep('Paused', attempt));
      break;
    case 'withdrawn':
      lands(scene, `${who} is told that its run was withdrawn`, execution, { kind: 'withdrawn' });
      break;
    case 'ledgerChanged':
      lands(scene, `${who} finds another ledger`, execution, toFailedStep('LedgerChanged', attempt));
      break;
    case 'writerTooOld':
      lands(scene, `${who} is told that it is too old`, execution, toFailedStep('LedgerUnavailable', attempt));
      break;
  }
  if (scene.surroundings.refusesInput) {
    lands(scene, `${who} cannot build the request`, execution, toFailedStep('InvalidInput', attempt));
  }
  lands(scene, `${who} cannot reach the ledger`, execution, toFailedStep('LedgerUnavailable', attempt));
}

function sends(scene: Scene, execution: Execution, who: string): void {
  const { ledger, slack, run } = scene.world;
  const left = slack - 1;
  const forbidden = execution.copy === ledger.copy ? whyNothingMayBeSent(rowsOf(ledger, execution.of)) : undefined;
  // If the ledger has the withdrawal, the claim preceded it: the attempt is in flight, even after a reset of its run.
  const isOver = run.phase.kind === 'ended' && run.phase.how === 'withdrawn' && !ledger.isWithdrawn;
  const wrong = forbidden ?? (isOver ? 'after its run had ended' : undefined);
  const violation = left < 0 ? 'sent once more than was decided' : wrong && `sent ${wrong}`;
  // The end is fixed at once and reported at any later step: a crash before the report is a crash during the send.
  for (const name of scene.surroundings.ends) {
    const change = { phase: 'ended' as const, end: endNamed(name, execution.of) };
    const more = { slack: left + (name === 'throttled' ? 1 : 0) };
    becomes(scene, `${who} SENDS, which ends as ${name}`, execution, change, more, violation);
  }
}

function records(scene: Scene, execution: Execution, who: string): void {
  const end = endOf(execution);
  const recorded = recordOutcome(scene.world.ledger, execution, execution.attempt, end);
  if (recorded.kind === 'recorded') {
    const { ledger, violation } = recorded;
    const label = `${who} records ${end.name}`;
    if (execution.isWanted) becomes(scene, label, execution, { phase: 'recorded' }, { ledger }, violation);
    else vanishes(scene, label, execution, { ledger }, violation);
  }
  reports(scene, `${who} reports ${end.name}, unrecorded`, execution, false);
}

/** Completes the activity. */
function reports(scene: Scene, label: string, execution: Execution, recorded: boolean): void {
  const { attempt } = execution;
  const { answer, failureType } = endOf(execution);
  const failure = { failureType: failureType ?? 'OutcomeUnknown', attempt, claimed: true };
  const step: Step = answer
    ? { kind: 'answered', attempt, answer, recorded }
    : { kind: 'failed', recorded, failure: { ...failure } };
  lands(scene, label, execution, step);
}

function endOf({ end }: Execution) {
  if (!end) throw new Error('an attempt that has ended without an end');
  return end;
}

/** Changes the execution without a step of the run. */
function becomes(
  { world, emit }: Scene,
  label: string,
  execution: Execution,
  change: Partial<Execution>,
  more: Partial<World> = {},
  violation?: string,
): void {
  const executions = world.executions.map((one) => (one === execution ? { ...one, ...change } : one));
  emit(label, { ...world, ...more, executions }, violation);
}

/** Ends the execution; the run takes the step if Temporal still waits for it. */
function lands(scene: Scene, label: string, execution: Execution, step: Step, more: Partial<World> = {}): void {
  if (execution.isWanted) takeStep(scene, label, step, { ...more, executions: without(scene.world, execution) });
  else vanishes(scene, label, execution, more);
}

function vanishes(
  { world, emit }: Scene,
  label: string,
  execution: Execution,
  more: Partial<World>,
  violation?: string,
): void {
  emit(label, { ...world, ...more, executions: without(world, execution) }, violation);
}

function without(world: World, execution: Execution): Execution[] {
  return world.executions.filter((one) => one !== execution);
}
