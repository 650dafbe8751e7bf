/** What the run does by itself: looks up, records, takes decisions to the ledger. As `src/workflows/attempt.ts` and `holds.ts`. */
import { accepted, type LookedUp, lookUp, recordDecision, recordOutcome } from './explorer-ledger.ts';
import { failedAs, inPhase, queue, stepOfView } from './explorer-run.ts';
import { type EndName, endNamed, type Scene, spend, takeStep } from './explorer-scene.ts';
import type { Decision, End, Hold, LedgerCopy, Request, Unrecorded } from './explorer-world.ts';

export function runGoesOn(scene: Scene): void {
  const { run } = scene.world;
  const { phase } = run;
  if (phase.kind === 'lookUp') looksUp(scene, run.attempt);
  if (phase.kind === 'waiting') looksAgain(scene, 'the run looks while it waits', phase.attempt);
  if (phase.kind === 'recording') records(scene, phase.step);
  if (phase.kind === 'deciding') takesDecision(scene, phase.hold, phase.decision);
}

/** `afterLookUp`: nothing is known of the attempt but what the ledger has. */
function looksUp(scene: Scene, attempt: number): void {
  const found = foundIn(scene);
  const view = found.kind === 'found' ? found.view : null;
  const isAboutIt = view && (view.attempt >= attempt || view.state === 'abandoned');
  if (found.kind !== 'found' || isAboutIt) looksAgain(scene, 'the run looks up', attempt);
  else takeStep(scene, 'the run looks up: nothing', failedAs('ActivityFailed', attempt));
}

/** `lookAgain`: the ledger must know the attempt, which was claimed. */
function looksAgain(scene: Scene, label: string, attempt: number, ledger = scene.world.ledger): void {
  const found = foundIn(scene, ledger);
  switch (found.kind) {
    case 'ledgerChanged':
      takeStep(scene, `${label}: another ledger`, failedAs('LedgerChanged', attempt), { ledger });
      break;
    case 'requestDiffers':
      takeStep(scene, `${label}: another request`, failedAs('RequestDiffers', attempt), { ledger });
      break;
    case 'found': {
      const { view } = found;
      const isKnown = view && (view.attempt >= attempt || view.state === 'abandoned');
      const step = isKnown ? stepOfView(view) : failedAs('LedgerChanged', attempt);
      takeStep(scene, `${label}: ${view?.state ?? 'nothing'}`, step, { ledger });
      break;
    }
  }
}

function foundIn({ world, mutation }: Scene, ledger = world.ledger): LookedUp {
  const { run } = world;
  const anybody: Request = ledger.digest === 'B' ? 'B' : 'A';
  return lookUp(ledger, mutation.looksUpAnybody ? { ...run, of: anybody } : run);
}

/** `recordStep`, repeated without limit, and given up where the ledger is another one. */
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

/** `recordTheDecision`, then what `#hold` does with its effect. */
function takesDecision(scene: Scene, hold: Hold, decision: Decision): void {
  const { ledger, run, budget } = scene.world;
  const { action, attempt, decisionId } = decision;
  const recorded = recordDecision(ledger, run, decision);
  const label = `decision ${decisionId} (${action} ${attempt})`;
  switch (recorded.kind) {
    case 'ledgerChanged':
      if (action === 'abandon' || action === 'resend') decided(scene, `${label} without its ledger`, hold, decision);
      else takeStep(scene, `${label}: another ledger`, heldAgain(hold));
      break;
    case 'overtaken': {
      const { view } = recorded;
      const isOpen = view.attempt === attempt && !view.answer && view.state !== 'abandoned';
      if (action === 'resend' && isOpen) decided(scene, `${label} stands already`, hold, decision, recorded.ledger);
      else looksAgain(scene, `${label} is overtaken`, claimedBefore(hold), recorded.ledger);
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

/** The latest attempt that the run knows to have been claimed. */
function claimedBefore({ failure }: Hold): number {
  return failure.claimed ? failure.attempt : failure.attempt - 1;
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
