/** Messages to every run that makes inquiries: a person's decision about a hold, and a withdrawal. */
import { defineSignal, setHandler } from '@temporalio/workflow';
import type { RunActivities } from '../../../activities/index.ts';
import type { RunWithdrawal } from '../../../ledger/records.ts';
import type { RefusedMessage } from '../../../messages/journey/shapes.ts';
import type { MessageWith } from '../../../messages/message.ts';
import { type MessageRefusal, type RefusalCause, refuse, refuseDifference } from '../../../model/refusals.ts';
import { runUntilDone } from '../activity-stubs.ts';
import { readInputProblems } from '../failures.ts';
import type { DecisionMessage, Holds } from '../holds.ts';
import type { InFlightActivities } from '../in-flight-activities.ts';
import { findTakenDecision, type RunDecisions } from '../run-decisions.ts';
import { answerUnderway, createRefusal, handleUpdate, refuseMessage, type UpdateHandler } from './message-answers.ts';

/** The parts of a run that its messages use. */
interface TellableRun<Withdrawal, Status> {
  readonly holds: Holds;
  readonly inFlight: InFlightActivities;
  readonly decided: RunDecisions;
  readonly runKey: string;
  /** Whether the run sends no further inquiry. */
  readonly isEnding: boolean;
  withdrawal: Withdrawal | undefined;
  status(): Status;
  refuse(message: RefusedMessage): void;
}

/**
 * A withdrawal takes effect at once, and the update answers once the ledger has it.
 *
 * @param findEnd returns why the run takes no withdrawal now, or `null`
 */
export function handleWithdrawals<Withdrawal extends RunWithdrawal, Status>(
  run: TellableRun<Withdrawal, Status>,
  definition: MessageWith<Withdrawal>,
  findEnd: () => MessageRefusal | null = () => null,
): void {
  const take = (message: Withdrawal): boolean => {
    const isNew = run.withdrawal === undefined;
    run.withdrawal ??= message;
    run.inFlight.recheck();
    return isNew;
  };
  const objection = (message: Withdrawal): MessageRefusal | null => {
    const problem = findEnd();
    if (problem !== null || run.withdrawal === undefined) return problem;
    return refuseDifference('withdraw was accepted', run.withdrawal, message);
  };
  handleWithdrawalMessages(run, definition, {
    objection,
    answer: async (message) => {
      const duplicate = !take(message);
      // A withdrawal is one row, however often it is written.
      return { ...(await run.decided.answer(run, findTakenDecision('withdraw', run.runKey, message))), duplicate };
    },
    ask: (message) => {
      if (take(message)) run.decided.note(findTakenDecision('withdraw', run.runKey, message));
    },
  });
}

/** The update and the signal by which a run is withdrawn. */
export function handleWithdrawalMessages<Withdrawal, Status>(
  run: { refuse(message: RefusedMessage): void },
  definition: MessageWith<Withdrawal>,
  how: Required<UpdateHandler<Withdrawal, Status>> & { ask(message: Withdrawal): void },
): void {
  handleUpdate(run, definition, 'withdraw', how);
  setHandler(
    defineSignal<[Withdrawal]>('requestWithdrawal'),
    (message) => {
      const refusal = definition.objection(run, message) ?? how.objection(message);
      if (refusal !== null) refuseMessage(run, 'requestWithdrawal', refusal.reason);
      else how.ask(message);
    },
    { description: definition.signals?.requestWithdrawal as string },
  );
}

/**
 * The activity that records a decision also judges it: its proof, and the applicants of an amendment. If the ledger
 * refuses it, so does the run, and the hold stays and shows that.
 */
export function handleDecisions<Withdrawal, Message extends DecisionMessage, Status>(
  run: TellableRun<Withdrawal, Status>,
  definition: MessageWith<Message>,
): void {
  const { holds } = run;
  handleUpdate(run, definition, 'resolveInquiry', {
    objection: (message) => holds.findProblem(message, run.isEnding),
    answer: (message) => {
      const { taken, isDuplicate } = holds.take(message);
      return answerUnderway(run, taken, isDuplicate);
    },
  });
}

/** The interface's table holds for applicants that come later, too; an activity checks them. */
export async function checkApplicants(args: Parameters<RunActivities['checkApplicants']>[0]): Promise<void> {
  await refuseInvalidInput('notNow', () =>
    runUntilDone('checkApplicants', { summary: 'checking the new applicants' }, args),
  );
}

/** A repeat is a person's decision, too: whether it needs a proof, and has one. */
export async function checkRepeatProof(args: Parameters<RunActivities['checkRepeatProof']>[0]): Promise<void> {
  const { repeat, occurrence } = args.message;
  await refuseInvalidInput('unproven', () =>
    runUntilDone('checkRepeatProof', { summary: `checking who wants ${repeat} again, as ${occurrence}` }, args),
  );
}

/** A share that is requested later meets the same rules as one of the start. */
export async function checkShare(args: Parameters<RunActivities['checkShare']>[0]): Promise<void> {
  const summary = `checking share ${args.message.share.shareId}`;
  await refuseInvalidInput('notNow', () => runUntilDone('checkShare', { summary }, args));
}

/** Turns an activity's `InvalidInput` into the refusal of the update. */
async function refuseInvalidInput<T>(cause: RefusalCause, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    const problems = readInputProblems(error);
    if (!problems) throw error;
    throw createRefusal(refuse(cause, problems.map(({ path, rule }) => `${path} ${rule}`).join('; ')));
  }
}
