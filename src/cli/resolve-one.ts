/** A decision about one hold of a running journey. */

import { heldByRun, type OpenHold } from '../client/open-hold.ts';
import type { JourneyHandle, UpdateAnswer } from '../client.ts';
import type { JourneyStatus, ResolveInquiryMessage } from '../model/shapes.ts';
import { askForTheRest, confirmed, showHold } from './ask-decision.ts';
import { checkMessage } from './check-message.ts';
import { type DraftDecision, draftOf, requireFlags } from './decision-flags.ts';
import { UsageError } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import { withJourney } from './journey-action.ts';
import { createOutput, type Output } from './output.ts';
import { createPrompter, type Prompter } from './prompts.ts';
import type { ResolveOptions } from './resolve-command.ts';
import { statusLines } from './status-lines.ts';

/** Whether there is somebody to ask. */
export function isAsking(output: Pick<Output, 'isJson'>): boolean {
  return !output.isJson && process.stdin.isTTY === true;
}

/** Returns the exit code. */
export async function resolveOne(
  journeyId: string,
  trace: string | undefined,
  options: ResolveOptions,
): Promise<number> {
  const asking = isAsking(createOutput(options));
  if (!asking) requireFlags(options);
  const draft = await draftOf(options);
  if (draft.action === 'seen') throw new UsageError('--action seen belongs to --ledger');
  if (!asking && trace !== undefined) await checkMessage('resolveInquiry', messageOf(journeyId, trace, draft));
  return withJourney(journeyId, options, (journey, output) =>
    asking ? ask(journey, trace, draft, options, output) : decide(journey, trace, draft, output),
  );
}

function messageOf(journeyId: string, customerTraceNumber: string, draft: DraftDecision): ResolveInquiryMessage {
  return { ...draft, journeyId, customerTraceNumber } as ResolveInquiryMessage;
}

/** The run judges the rest: it alone knows whether this decision stands already. */
async function decide(
  journey: JourneyHandle,
  trace: string | undefined,
  draft: DraftDecision,
  output: Output,
): Promise<number> {
  const customerTraceNumber = trace ?? onlyHoldOf(await journey.status()).customerTraceNumber;
  await send(journey, customerTraceNumber, draft, output);
  return EXIT.done;
}

async function ask(
  journey: JourneyHandle,
  trace: string | undefined,
  draft: DraftDecision,
  { yes = false }: ResolveOptions,
  output: Output,
): Promise<number> {
  const prompter = createPrompter();
  try {
    const hold = await chooseHold(await journey.status(), trace, prompter);
    if (draft.attempt !== undefined && draft.attempt !== hold.attempt) {
      throw new UsageError(`the hold is about attempt ${hold.attempt} by now: look at it again`);
    }
    showHold(hold, prompter, output);
    const decision = await askForTheRest(hold, draft, prompter);
    // Before it is confirmed: what cannot be is told while it can still be mended.
    await checkMessage('resolveInquiry', messageOf(journey.journeyId, hold.customerTraceNumber, decision));
    if (!yes && !(await confirmed(hold, decision, prompter, output))) {
      output.note('nothing was decided');
      return EXIT.needsPerson;
    }
    await send(journey, hold.customerTraceNumber, decision, output);
    return EXIT.done;
  } finally {
    prompter.close();
  }
}

async function send(
  journey: JourneyHandle,
  customerTraceNumber: string,
  draft: DraftDecision,
  output: Output,
): Promise<void> {
  const { journeyId: _, ...message } = messageOf(journey.journeyId, customerTraceNumber, draft);
  const answer: UpdateAnswer = await journey.resolve(message);
  const { decisionId } = draft;
  output.answer({ decisionId, customerTraceNumber, ...answer }, () => [
    output.colors.green(answer.duplicate ? 'decided before: nothing has changed' : `decided, as ${decisionId}`),
    ...statusLines(answer.status, output),
  ]);
}

async function chooseHold(status: JourneyStatus, trace: string | undefined, prompter: Prompter): Promise<OpenHold> {
  const holds = status.holds.map((hold) => heldByRun(status.journeyId, hold));
  if (trace !== undefined) {
    const found = holds.find(({ customerTraceNumber }) => customerTraceNumber === trace);
    if (!found) throw new UsageError('no inquiry with this trace number is on hold in this journey');
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

function onlyHoldOf({ journeyId, state, holds }: JourneyStatus): OpenHold {
  const [hold, ...others] = holds;
  if (!hold) throw new Error(`journey ${journeyId} is ${state}: nothing of it is on hold`);
  if (others.length > 0) {
    const known = holds.map(({ customerTraceNumber }) => customerTraceNumber).join(', ');
    throw new UsageError(`several inquiries are on hold: name one of ${known}`);
  }
  return heldByRun(journeyId, hold);
}
