/** Events from outside the run: time-outs, resets, restarts, decisions, disposals, migrations and ledger replacements. */
import { disposeOf, timeIsOver } from './explorer-ledger.ts';
import { allowedActions, inPhase } from './explorer-run.ts';
import { givenUp, type Scene, spend } from './explorer-scene.ts';
import { CURRENT_WRITER, type Decision, type Execution, type LedgerCopy, newRun } from './explorer-world.ts';

/** Lets Temporal give up an attempt that continues on its worker. */
export function attemptTimesOut(scene: Scene): void {
  const { world, emit } = scene;
  const { executions, budget, run } = world;
  const wanted = executions.find(({ isWanted }) => isWanted);
  if (!wanted || budget.timeOuts === 0) return;
  emit(`Temporal gives up attempt ${wanted.attempt}, which goes on`, {
    ...world,
    ...spend(scene, { timeOuts: budget.timeOuts - 1 }),
    run: inPhase(run, { kind: 'lookUp' }),
    executions: givenUp(executions),
  });
}

/**
 * Withdraws the run, which cancels its attempt: in the queue, or on a worker that does not receive the cancellation. The
 * run does not end before the ledger has the withdrawal: here the ledger has it at once, or never.
 */
export function isWithdrawn(scene: Scene): void {
  const { world, emit } = scene;
  const { executions, budget, run } = world;
  if (budget.withdrawals === 0 || (run.phase.kind !== 'queued' && run.phase.kind !== 'running')) return;
  emit('the run is withdrawn, and calls its attempt back', {
    ...world,
    ...spend(scene, { withdrawals: budget.withdrawals - 1 }),
    ledger: scene.surroundings.withdrawsUnrecorded ? world.ledger : { ...world.ledger, isWithdrawn: true },
    run: inPhase({ ...run, isWithdrawn: true }, { kind: 'lookUp' }),
    executions: givenUp(executions),
  });
}

/** Resets the run to before any scheduled attempt, or to a hold, whose decision may be admitted again. */
export function isReset(scene: Scene): void {
  const { world, emit, surroundings } = scene;
  const { run, executions, budget, ledger } = world;
  if (budget.resets === 0) return;
  const back = { ...world, ...spend(scene, { resets: budget.resets - 1 }), executions: givenUp(executions) };
  const { isWithdrawn: _, ...unwithdrawn } = run;
  const forgetful = { ...run, holds: [], scheduled: [] };
  for (const attempt of run.scheduled) {
    emit(`reset to before attempt ${attempt}`, {
      ...back,
      run: inPhase({ ...forgetful, attempt }, { kind: 'queued' }),
    });
    if (!run.isWithdrawn) continue;
    emit(`reset to before attempt ${attempt}, the withdrawal is forgotten`, {
      ...back,
      run: inPhase({ ...unwithdrawn, holds: [], scheduled: [], attempt }, { kind: 'queued' }),
    });
  }
  for (const { hold, decision } of run.holds) {
    const label = `reset to the hold of attempt ${hold.judged}`;
    const held = { ...forgetful, attempt: hold.next };
    emit(label, { ...back, run: inPhase(held, { kind: 'held', hold }) });
    if (!decision) continue;
    emit(`${label}, decision admitted again`, { ...back, run: inPhase(held, { kind: 'deciding', hold, decision }) });
  }
  if (surroundings.resetsToTheStart) emit('reset to the start', { ...back, run: newRun(run.of, ledger.ledgerId) });
}

/** Starts the run again after it was terminated or its history was lost. */
export function isStartedAgain(scene: Scene): void {
  const { world, emit } = scene;
  const { executions, budget, ledger } = world;
  if (budget.restarts === 0) return;
  for (const request of scene.surroundings.startedAgainFor ?? (['A', 'B'] as const)) {
    emit(`started again for ${request}`, {
      ...world,
      ...spend(scene, { restarts: budget.restarts - 1 }),
      executions: givenUp(executions),
      run: newRun(request, ledger.ledgerId),
    });
  }
}

/** Lets the time for an attempt's answer end; its `sendBy` was over long before. */
export function timePasses({ world, emit }: Scene): void {
  const { ledger, executions } = world;
  for (const row of [...ledger.attempts, ...(ledger.beside?.attempts ?? [])]) {
    if (row.answerInMs <= 0 || row.state !== 'sending') continue;
    const isOver = ({ copy, attempt, phase, of }: Execution) =>
      phase === 'claimed' && copy === ledger.copy && attempt === row.attempt && (of === 'C') === (row.of === 'C');
    emit(`the time of attempt ${row.attempt} is over`, {
      ...world,
      ledger: timeIsOver(ledger, row),
      executions: executions.map((one) => (isOver(one) ? { ...one, isLate: true } : one)),
    });
  }
}

/**
 * Another database answers at the ledger's address. The replacement takes longer than an attempt lives. So earlier
 * attempts that were not sent never will be, and the gateway may still answer those that were sent.
 */
export function ledgerIsReplaced(scene: Scene): void {
  const { world, emit, surroundings } = scene;
  const { ledger, run, budget, executions } = world;
  if (budget.swaps === 0 || surroundings.swap === undefined) return;
  const isOver = ({ phase, isWanted }: Execution) => phase === 'claimed' || (phase === 'started' && !isWanted);
  const isLost = executions.some((one) => isOver(one) && one.isWanted);
  const replaced = {
    ...world,
    ...spend(scene, { swaps: budget.swaps - 1 }),
    executions: executions.filter((one) => !isOver(one)),
    run: isLost ? inPhase(run, { kind: 'lookUp' }) : run,
  };
  const { oldestWriter } = ledger;
  const empty: LedgerCopy = {
    ledgerId: 'F',
    oldestWriter,
    copy: 1,
    digest: null,
    abandoned: false,
    attempts: [],
    decisions: [],
  };
  if (surroundings.swap === 'foreign') {
    emit('another ledger takes its place', { ...replaced, ledger: empty });
    return;
  }
  const { phase } = run;
  const isAwaited = surroundings.swap === 'olderThanAWait' && phase.kind === 'waiting';
  const known = isAwaited ? phase.attempt : run.attempt - 1;
  const passed = Math.min(known, ledger.attempts.length);
  const most = surroundings.swap === 'olderByTheAttemptInFlight' ? passed : passed - 1;
  for (let kept = 0; kept <= most; kept++) {
    const digest = kept > 0 ? ledger.digest : null;
    const attempts = ledger.attempts.slice(0, kept);
    const decisions = ledger.decisions.filter(({ attempt }) => attempt < kept);
    emit(`a backup with ${kept} attempts takes its place`, {
      ...replaced,
      ledger: {
        ...{ ...empty, ledgerId: ledger.ledgerId, digest, attempts, decisions },
        isRestored: surroundings.isWatched === true && kept < ledger.attempts.length,
      },
    });
  }
}

/**
 * Disposes of the ledger's content. The product refuses this while it knows of an open run; here it happens at any moment,
 * as if the run had started between that check and the disposal.
 */
export function isDisposedOf(scene: Scene): void {
  const { world, emit, surroundings } = scene;
  const { budget } = world;
  // Beside older workers, only a program of the migrated version disposes.
  if (surroundings.mixedWorkers && world.ledger.oldestWriter < CURRENT_WRITER) return;
  const ledger = budget.disposals === 0 ? null : disposeOf(world.ledger);
  if (ledger) emit('disposed of', { ...world, ...spend(scene, { disposals: budget.disposals - 1 }), ledger });
}

/** Runs `setup` of the current version while workers of the previous version run. */
export function isMigrated({ world, emit, surroundings }: Scene): void {
  const { ledger } = world;
  if (!surroundings.mixedWorkers || ledger.oldestWriter === CURRENT_WRITER) return;
  emit('the ledger is migrated', { ...world, ledger: { ...ledger, oldestWriter: CURRENT_WRITER } });
}

/** Lets an operator decide about a hold. */
export function personDecides(scene: Scene): void {
  const { world, emit } = scene;
  const { run, budget, slack } = world;
  if (run.phase.kind !== 'held' || budget.decisions === 0) return;
  const { hold } = run.phase;
  for (const action of allowedActions(hold)) {
    // A run that is ending refuses decisions that lead to another send.
    if (run.isWithdrawn && (action === 'resend' || action === 'amend')) continue;
    const { failureType } = hold.failure;
    const decision: Decision = { decisionId: `D${budget.decisions}`, action, attempt: hold.judged, failureType };
    emit(`a person decides: ${action}`, {
      ...world,
      ...spend(scene, { decisions: budget.decisions - 1 }),
      slack: slack + (action === 'resend' ? 1 : 0),
      run: {
        ...inPhase(run, { kind: 'deciding', hold, decision }),
        holds: run.holds.map((past) => (past.hold === hold ? { hold, decision } : past)),
      },
    });
  }
}

/** Lets an operator pause all inquiries, or resume them. */
export function isPausedOrResumed(scene: Scene): void {
  const { world, emit } = scene;
  const { ledger, budget } = world;
  if (ledger.isPaused) {
    const { isPaused: _, ...resumed } = ledger;
    emit('inquiries are resumed', { ...world, ledger: resumed });
  } else if (budget.pauses > 0) {
    const paused = { ...ledger, isPaused: true };
    emit('inquiries are paused', { ...world, ...spend(scene, { pauses: budget.pauses - 1 }), ledger: paused });
  }
}
