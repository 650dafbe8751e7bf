/** The run's own steps, as in `src/workflows/inquiry/attempt.ts` and `holds.ts`. */
import { CLAIM_RULES } from '../../src/ledger/claim.ts';
import type { AttemptView } from '../../src/model/inquiry.ts';
import { toBlockingStep } from '../../src/workflows/inquiry/attempt.ts';
import {
  type Asker,
  accepted,
  closeAttempt,
  type LookedUp,
  lookUp,
  recordDecision,
  recordOutcome,
} from './explorer-ledger.ts';
import { hold, inPhase, MAX_ATTEMPTS, ofARow, queue, stepOfView, toFailedStep } from './explorer-run.ts';
import { type EndName, endNamed, type Scene, spend, takeStep } from './explorer-scene.ts';
import type { Decision, End, Failure, Hold, LedgerCopy, Request, Unrecorded } from './explorer-world.ts';

export function runGoesOn(scene: Scene): void {
  const { run } = scene.world;
  const { phase } = run;
  if (phase.kind === 'lookUp') {
    looksUp(scene, run.attempt);
    miscounts(scene);
  }
  if (phase.kind === 'asking') asks(scene, 'the run asks before it holds', phase.failure);
  if (phase.kind === 'waiting') looksAgain(scene, 'the run looks while it waits', phase.attempt);
  if (phase.kind === 'recording') records(scene, phase.step);
  if (phase.kind === 'deciding') takesDecision(scene, phase.hold, phase.decision);
}

/** Models `closeByLookUp`: reads the attempt from the ledger, and closes it there if it is missing. */
function looksUp(scene: Scene, attempt: number): void {
  if (scene.mutation.closesNothing) {
    const found = foundIn(scene);
    const view = found.kind === 'found' ? found.view : null;
    const isAboutIt = view && ((view.latest ?? view.attempt) >= attempt || view.state === 'abandoned');
    if (found.kind !== 'found' || isAboutIt) looksAgain(scene, 'the run looks up', attempt);
    else goesOnUnclosed(scene, attempt);
    return;
  }
  const { closesOverGaps } = scene.mutation;
  closes(scene, attempt, closesOverGaps ? CLAIM_RULES.filter(({ name }) => name !== 'previousMissing') : CLAIM_RULES);
}

/** Models a faulty run that treats a lost attempt as ended and asks for the next one without a look-up. */
function miscounts(scene: Scene): void {
  const { world, emit } = scene;
  const { run, budget } = world;
  if (budget.miscounts === 0 || run.attempt >= MAX_ATTEMPTS) return;
  emit('the run asks for the next attempt in place of a look-up', {
    ...world,
    ...spend(scene, { miscounts: budget.miscounts - 1 }),
    run: queue({ ...run, attempt: run.attempt + 1 }),
  });
}

/** Continues as if the activity had never run. */
function goesOnUnclosed(scene: Scene, attempt: number): void {
  const { run } = scene.world;
  const label = 'the run looks up: nothing';
  if (!run.isWithdrawn) takeStep(scene, label, toFailedStep('ActivityFailed', attempt));
  else scene.emit(label, { ...scene.world, run: inPhase(run, { kind: 'ended', how: 'withdrawn' }) });
}

function closes(scene: Scene, attempt: number, rules = CLAIM_RULES): void {
  const { world, emit } = scene;
  const closed = closeAttempt(world.ledger, askerIn(scene, world.ledger), attempt, rules);
  const label = 'the run looks up, and closes what nobody has claimed';
  switch (closed.kind) {
    case 'ledgerChanged':
      takeStep(scene, `${label}: another ledger`, toFailedStep('LedgerChanged', attempt));
      break;
    case 'requestDiffers':
      takeStep(scene, `${label}: another request`, toFailedStep('RequestDiffers', attempt));
      break;
    case 'found': {
      const { ledger, view } = closed;
      takeStep(scene, `${label}: ${view.state}`, stepOfView(view), { ledger });
      if (world.budget.crashes > 0 && ledger !== world.ledger) emit(`${label}, and is not told`, { ...world, ledger });
      break;
    }
  }
}

/** Models `findBlockingAttempt`: looks for an attempt in the ledger that the hold must name instead. */
function asks(scene: Scene, label: string, failure: Failure, ledger = scene.world.ledger): void {
  const { run } = scene.world;
  const found = foundIn(scene, ledger);
  if (found.kind !== 'found') {
    const failureType = found.kind === 'ledgerChanged' ? 'LedgerChanged' : 'RequestDiffers';
    takeStep(scene, `${label}: ${found.kind}`, toFailedStep(failureType, run.attempt), { ledger });
    return;
  }
  const step = toBlockingStep(found.view, run.attempt);
  if (step) takeStep(scene, `${label}: ${found.view?.state ?? 'a gap'}`, ofARow(step), { ledger });
  else scene.emit(`${label}: nothing`, { ...scene.world, ledger, run: hold(run, failure) });
}

/** Models `lookAgain`: the attempt was claimed, so the ledger must know it. */
function looksAgain(scene: Scene, label: string, attempt: number, ledger = scene.world.ledger): void {
  const found = foundIn(scene, ledger);
  switch (found.kind) {
    case 'ledgerChanged':
      takeStep(scene, `${label}: another ledger`, toFailedStep('LedgerChanged', attempt), { ledger });
      break;
    case 'requestDiffers':
      takeStep(scene, `${label}: another request`, toFailedStep('RequestDiffers', attempt), { ledger });
      break;
    case 'found': {
      const { view } = found;
      const isKnown = view && ((view.latest ?? view.attempt) >= attempt || view.state === 'abandoned');
      if (!isKnown && scene.mutation.closesWhereverItLooks) {
        closes(scene, attempt);
        break;
      }
      const step = isKnown ? stepOfView(view) : toFailedStep('LedgerChanged', attempt);
      takeStep(scene, `${label}: ${view?.state ?? 'nothing'}`, step, { ledger });
      break;
    }
  }
}

function foundIn(scene: Scene, ledger = scene.world.ledger): LookedUp {
  return lookUp(ledger, askerIn(scene, ledger));
}

function askerIn({ world: { run }, mutation }: Scene, ledger: LedgerCopy): Asker {
  const anybody: Request = ledger.digest === 'B' ? 'B' : 'A';
  return mutation.looksUpAnybody ? { ...run, of: anybody } : run;
}

/** Models `recordStep`, which is retried without limit unless the ledger is another one. */
function records(scene: Scene, step: Unrecorded): void {
  const { ledger, run } = scene.world;
  const attempt = step.kind === 'answered' ? step.attempt : step.failure.attempt;
  const recorded = recordOutcome(ledger, run, attempt, endOf(step, run.of));
  if (recorded.kind === 'ledgerChanged') {
    takeStep(scene, 'the run goes on without recording: another ledger', { ...step, recorded: true });
  } else {
    takeStep(scene, 'the run records', { ...step, recorded: true }, { ledger: recorded.ledger }, recorded.violation);
  }
}

function endOf(step: Unrecorded, of: Request): End {
  if (step.kind === 'answered') return endNamed(step.answer.kind === 'outcome' ? 'outcome' : 'unexpected', of);
  const names: Partial<Record<string, EndName | 'notSent'>> = {
    Throttled: 'throttled',
    RequestRefused: 'refused',
    NotEntitled: 'notEntitled',
    GatewayUnreachable: 'notSent',
  };
  return endNamed(names[step.failure.failureType] ?? 'lost', of);
}

/** Models `recordJudgedDecision`, and what `#hold` does with its effect. */
function takesDecision(scene: Scene, hold: Hold, decision: Decision): void {
  const { ledger, run, budget } = scene.world;
  const { action, attempt, decisionId } = decision;
  const recorded = recordDecision(ledger, run, decision, scene.mutation.decidesAnyway);
  const label = `decision ${decisionId} (${action} ${attempt})`;
  switch (recorded.kind) {
    case 'ledgerChanged':
      if (action === 'abandon' || action === 'resend') decided(scene, `${label} without its ledger`, hold, decision);
      else takeStep(scene, `${label}: another ledger`, heldAgain(hold));
      break;
    case 'overtaken': {
      const { view } = recorded;
      const isOpen = view.attempt === attempt && !view.answer && !isOver(view);
      if (action === 'resend' && isOpen) decided(scene, `${label} stands already`, hold, decision, recorded.ledger);
      else findSupersedingStep(scene, `${label} is overtaken`, hold, recorded.ledger);
      break;
    }
    case 'recorded':
      decided(scene, `${label} recorded`, hold, decision, recorded.ledger, recorded.violation);
      if (budget.crashes === 0 || recorded.ledger === ledger) break;
      scene.emit(`${label} recorded, and nobody is told`, {
        ...scene.world,
        ...spend(scene, { crashes: budget.crashes - 1 }),
        ledger: recorded.ledger,
      });
      break;
  }
}

/** Returns whether nothing more may be sent for the inquiry. */
function isOver({ state, failureType }: AttemptView): boolean {
  return state === 'abandoned' || failureType === 'AnsweredLate';
}

/** `#whatStandsInstead`. */
function findSupersedingStep(scene: Scene, label: string, { failure }: Hold, ledger: LedgerCopy): void {
  if (failure.claimed) looksAgain(scene, label, failure.attempt, ledger);
  else asks(scene, label, failure, ledger);
}

function heldAgain({ failure }: Hold) {
  return { kind: 'failed', recorded: true, failure: { ...failure, failureType: 'LedgerChanged' } } as const;
}

function decided(
  scene: Scene,
  label: string,
  { failure }: Hold,
  { action }: Decision,
  ledger: LedgerCopy = scene.world.ledger,
  violation?: string,
): void {
  const { world, emit } = scene;
  const { run } = world;
  switch (action) {
    case 'abandon':
      emit(label, { ...world, ledger, run: inPhase(run, { kind: 'ended', how: 'abandoned' }) }, violation);
      break;
    case 'amend':
      emit(label, { ...world, ledger, run: inPhase(run, { kind: 'ended', how: 'amended' }) }, violation);
      break;
    case 'resend':
      emit(label, { ...world, ledger, run: queue(run) }, violation);
      break;
    case 'accept': {
      const { attempt } = failure;
      takeStep(
        scene,
        label,
        { kind: 'answered', attempt, answer: accepted(run), recorded: true },
        { ledger },
        violation,
      );
      break;
    }
  }
}
