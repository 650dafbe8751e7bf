/** A decision about one hold of an open run. */

import { heldByRun, type OpenHold } from '../../client/holds/open-hold.ts';
import type { ResolveInquiryMessage } from '../../messages/resolve-inquiry.ts';
import { runName } from '../../model/owner-id.ts';
import { type AnyStatus, ownerIdIn } from '../../words/runs.ts';
import { checkRunMessage } from '../output/check-message.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, type Output } from '../output/output.ts';
import { createPrompter, type Prompter } from '../output/prompts.ts';
import type { ReadProof } from '../output/proof-input.ts';
import { statusLines } from '../output/status-lines.ts';
import { askForTheRest, confirmed, showHold } from './ask-decision.ts';
import {
  type DraftDecision,
  draftOf,
  proven,
  type ResolveOptions,
  requireFlags,
  tracedBy,
  withProof,
} from './decision-flags.ts';
import { type AnyRun, withRun } from './journey-action.ts';
import { whatFollowed } from './what-followed.ts';

/** Whether an operator can be asked at this terminal. */
export function isAsking(output: Pick<Output, 'isJson'>): boolean {
  return !output.isJson && process.stdin.isTTY === true;
}

/** Returns the exit code. */
export async function resolveOne(ownerId: string, named: string | undefined, given: ResolveOptions): Promise<number> {
  const { flags: options, proof } = await withProof(given);
  const trace = named ?? tracedBy(proof);
  const asking = isAsking(createOutput(options));
  if (!asking) requireFlags(options);
  const draft = await draftOf(options);
  if (draft.action === 'seen') throw new UsageError('--action seen belongs to --ledger');
  if (!asking && trace !== undefined) {
    await checkRunMessage('resolveInquiry', ownerId, messageOf(trace, proven(draft, trace, proof)));
  }
  return withRun(ownerId, options, (run, output) =>
    asking ? ask(run, { trace, draft, proof }, options, output) : decide(run, { trace, draft, proof }, output),
  );
}

/** What the command line says: which inquiry, the decision as far as it goes, and its proof. */
interface Given {
  trace: string | undefined;
  draft: DraftDecision;
  proof: ReadProof | undefined;
}

function messageOf(customerTraceNumber: string, draft: DraftDecision): Omit<ResolveInquiryMessage, 'journeyId'> {
  return { ...draft, customerTraceNumber } as Omit<ResolveInquiryMessage, 'journeyId'>;
}

/** The run judges the rest: it alone knows whether this decision stands already. */
async function decide(run: AnyRun, { trace, draft, proof }: Given, output: Output): Promise<number> {
  const customerTraceNumber = trace ?? onlyHoldOf(await run.status()).customerTraceNumber;
  await send(run, customerTraceNumber, proven(draft, customerTraceNumber, proof), output);
  return EXIT.done;
}

async function ask(
  run: AnyRun,
  { trace, draft, proof }: Given,
  { yes = false }: ResolveOptions,
  output: Output,
): Promise<number> {
  const prompter = createPrompter();
  try {
    const hold = await chooseHold(await run.status(), trace, prompter);
    if (draft.attempt !== undefined && draft.attempt !== hold.attempt) {
      throw new UsageError(`the hold is about attempt ${hold.attempt} by now: look at it again`);
    }
    showHold(hold, prompter, output);
    const decision = proven(await askForTheRest(hold, draft, prompter), hold.customerTraceNumber, proof);
    // Checked before it is confirmed: the operator can still correct it.
    await checkRunMessage('resolveInquiry', run.ownerId, messageOf(hold.customerTraceNumber, decision));
    if (!yes && !(await confirmed(hold, decision, prompter, output))) {
      output.note('nothing was decided');
      return EXIT.needsPerson;
    }
    await send(run, hold.customerTraceNumber, decision, output);
    return EXIT.done;
  } finally {
    prompter.close();
  }
}

async function send(run: AnyRun, customerTraceNumber: string, draft: DraftDecision, output: Output): Promise<void> {
  const answer = await run.resolve(messageOf(customerTraceNumber, draft));
  const { decisionId } = draft;
  const followed = answer.duplicate ? undefined : await whatFollowed(run, answer.status, customerTraceNumber);
  const status = followed?.status ?? answer.status;
  output.answer({ decisionId, customerTraceNumber, ...answer, status }, () => [
    output.colors.green(answer.duplicate ? 'decided before: nothing has changed' : `decided, as ${decisionId}`),
    ...(answer.recorded === false
      ? [output.colors.yellow('the ledger does not have the decision: the run alone has')]
      : []),
    ...(followed?.words === undefined ? [] : [followed.words]),
    ...statusLines(status, output),
  ]);
}

async function chooseHold(status: AnyStatus, trace: string | undefined, prompter: Prompter): Promise<OpenHold> {
  const holds = status.holds.map((hold) => heldByRun(ownerIdIn(status), hold));
  if (trace !== undefined) {
    const found = holds.find(({ customerTraceNumber }) => customerTraceNumber === trace);
    if (!found) throw new UsageError('no inquiry with this trace number is on hold there');
    return found;
  }
  if (holds.length <= 1) return onlyHoldOf(status);
  const chosen = await prompter.choice(
    'Several inquiries are on hold',
    holds.map(({ customerTraceNumber, productCode, reason }) => ({
      value: customerTraceNumber,
      what: `${productCode}, ${reason}`,
    })),
  );
  return holds.find(({ customerTraceNumber }) => customerTraceNumber === chosen) as OpenHold;
}

function onlyHoldOf(status: AnyStatus): OpenHold {
  const { state, holds } = status;
  const ownerId = ownerIdIn(status);
  const [hold, ...others] = holds;
  if (!hold) throw new Error(`${runName(ownerId)} is ${state}: nothing of it is on hold`);
  if (others.length > 0) {
    const known = holds.map(({ customerTraceNumber }) => customerTraceNumber).join(', ');
    throw new UsageError(`several inquiries are on hold: name one of ${known}`);
  }
  return heldByRun(ownerId, hold);
}
