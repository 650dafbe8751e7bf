/** Decides about one hold, or records that an operator has seen a flag. */
import { runName } from '../../model/run-key.ts';
import type { Decision, DecisionMade, SaidHold } from '../../operator/decide.ts';
import type { DecidableHold } from '../../operator/judge-decision.ts';
import type { LedgerJourneys } from '../../operator/ledger-journeys.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { toListed } from '../output/hold-lines.ts';
import { createOutput, type Output, wrap } from '../output/output.ts';
import { createPrompter, type Prompter } from '../output/prompts.ts';
import type { ReadProof } from '../output/proof-input.ts';
import { statusLines } from '../output/status-lines.ts';
import { askForTheRest, confirmDecision, showHold } from './ask-decision.ts';
import {
  checkDecision,
  type DraftDecision,
  proven,
  type ResolveOptions,
  readDraft,
  tracedBy,
} from './decision-flags.ts';
import { requireRunKey, withJourneys } from './journey-action.ts';
import { whatFollowed } from './what-followed.ts';
import { readHolds } from './work-query.ts';

/** Whether an operator can be asked at this terminal. */
export function isAsking(output: Pick<Output, 'isJson'>): boolean {
  return !output.isJson && process.stdin.isTTY === true;
}

/** The input from the command line: the inquiry, the parts of the decision that the operator gave, and its proof. */
interface Given {
  runKey: string;
  trace: string | undefined;
  draft: DraftDecision;
  proof: ReadProof | undefined;
  options: ResolveOptions;
}

export async function resolveOne(runKey: string, named: string | undefined, options: ResolveOptions): Promise<number> {
  requireRunKey(runKey);
  const { draft, proof } = await readDraft(options);
  const trace = named ?? tracedBy(proof);
  const asking = isAsking(createOutput(options));
  if (draft.action === 'seen' && proof) throw new UsageError('--proof belongs to a decision, not to seen');
  const about = { runKey, trace, draft, proof, options };
  // Without a trace number every other member can be checked.
  if (!asking) check(about, trace ?? 'T', trace === undefined ? draft : proven(draft, trace, proof));
  return withJourneys(
    options,
    async (journeys, output) => {
      if (asking) return ask(journeys, about, output);
      const customerTraceNumber = trace ?? (await findOnlyHold(journeys, about)).customerTraceNumber;
      await send(journeys, runKey, customerTraceNumber, proven(draft, customerTraceNumber, proof), output);
      return EXIT.done;
    },
    { besideLedger: true },
  );
}

function check({ runKey, options }: Given, customerTraceNumber: string, draft: DraftDecision): void {
  if (draft.action !== 'seen') checkDecision({ ...draft, customerTraceNumber }, options, runKey);
}

async function ask(journeys: LedgerJourneys, given: Given, output: Output): Promise<number> {
  const { runKey, draft, proof, options } = given;
  const prompter = createPrompter();
  try {
    const { readDecidable } = await import('../../operator/decide.ts');
    const hold = await readDecidable(journeys, await chooseHold(journeys, given, prompter));
    requireSense(hold, draft);
    const { customerTraceNumber } = hold;
    showHold(hold, prompter, output);
    const decision = proven(await askForTheRest(hold, draft, prompter), customerTraceNumber, proof);
    // Checked before confirmation, so that the operator can still correct it.
    check(given, customerTraceNumber, decision);
    if (!options.yes && !(await confirmDecision(hold, decision, prompter, output))) {
      output.note('nothing was decided');
      return EXIT.needsPerson;
    }
    await send(journeys, runKey, customerTraceNumber, decision, output);
    return EXIT.done;
  } finally {
    prompter.close();
  }
}

/** @throws UsageError */
function requireSense(hold: DecidableHold, { action, attempt }: DraftDecision): void {
  if (attempt !== undefined && attempt !== hold.attempt) {
    throw new UsageError(`the hold is about attempt ${hold.attempt} by now: look at it again`);
  }
  if (action !== undefined && !hold.allowedActions.includes(action)) {
    throw new UsageError(`it allows ${hold.allowedActions.join(', ')}`);
  }
}

/** Reads the rows of the run's inquiries: holds, and flags where `seen` is meant or nothing is on hold. */
async function findHolds(journeys: LedgerJourneys, { runKey, trace, draft }: Given): Promise<SaidHold[]> {
  const rows = await readHolds(await journeys.openedLedger(), { filters: { runKey } });
  const all = rows.length > 0 ? (rows as unknown as SaidHold[]) : await askRun(journeys, runKey);
  const open = all.filter(({ customerTraceNumber }) =>
    trace === undefined ? customerTraceNumber !== undefined : customerTraceNumber === trace,
  );
  const held = open.filter(({ kind }) => kind === 'held');
  const flagged = open.filter(({ kind }) => kind === 'flagged');
  if (draft.action === 'seen') return [...flagged, ...held];
  return held.length > 0 || draft.action !== undefined ? held : flagged;
}

/** A run whose ledger is another one has no row in this ledger. */
async function askRun(journeys: LedgerJourneys, runKey: string): Promise<SaidHold[]> {
  const { holds } = await journeys.run(runKey).status();
  return holds.map((hold) => ({ ...toListed(runKey, hold), kind: 'held' }));
}

/** @throws UsageError where it is not clear which one is meant */
async function findOnlyHold(journeys: LedgerJourneys, given: Given): Promise<SaidHold> {
  const [hold, ...others] = await findHolds(journeys, given);
  if (!hold) throw nothingThere(given);
  if (others.length > 0) {
    const known = [hold, ...others].map(({ customerTraceNumber }) => customerTraceNumber).join(', ');
    throw new UsageError(`several inquiries are on hold: name one of ${known}`);
  }
  return hold;
}

async function chooseHold(journeys: LedgerJourneys, given: Given, prompter: Prompter): Promise<SaidHold> {
  const holds = await findHolds(journeys, given);
  const [first, ...others] = holds;
  if (!first) throw nothingThere(given);
  if (others.length === 0 || given.trace !== undefined) return first;
  const chosen = await prompter.choice(
    'Several inquiries are on hold',
    holds.map(({ customerTraceNumber, productCode, reason }) => ({
      value: customerTraceNumber,
      what: `${productCode}, ${reason}`,
    })),
  );
  return holds.find(({ customerTraceNumber }) => customerTraceNumber === chosen) as SaidHold;
}

function nothingThere({ runKey, trace }: Pick<Given, 'runKey' | 'trace'>): Error {
  return trace === undefined
    ? new Error(`nothing of ${runName(runKey)} is on hold`)
    : new UsageError('no inquiry with this trace number is on hold there');
}

async function send(
  journeys: LedgerJourneys,
  runKey: string,
  customerTraceNumber: string,
  draft: DraftDecision,
  output: Output,
): Promise<void> {
  const { decisionId, action, by = '', reason = '' } = draft;
  const { decide, isOwnInquiry } = await import('../../operator/decide.ts');
  if (action === 'seen') {
    if (!(await isOwnInquiry(journeys, runKey, customerTraceNumber)))
      throw nothingThere({ runKey, trace: customerTraceNumber });
    const answer = await journeys.markSeen({ decisionId, customerTraceNumber, by, reason });
    output.answer({ accepted: true, decisionId, action, ...answer }, () => [decidedLine(answer, decisionId, output)]);
    return;
  }
  const made = await decide(journeys, runKey, { ...draft, customerTraceNumber } as Decision);
  const run = journeys.run(runKey);
  const followed =
    made.status && !made.duplicate ? await whatFollowed(run, made.status, customerTraceNumber) : undefined;
  const status = followed?.status ?? made.status;
  output.answer({ decisionId, customerTraceNumber, ...made, status }, () => [
    decidedLine(made, decisionId, output),
    ...(made.recorded ? [] : [output.colors.yellow('the ledger does not have the decision: the run alone has')]),
    ...(followed?.words === undefined ? [] : [followed.words]),
    ...(status ? statusLines(status, output) : nextSteps(action, runKey).flatMap((text) => wrap(text, output.width))),
  ]);
}

function decidedLine({ duplicate }: Pick<DecisionMade, 'duplicate'>, decisionId: string, { colors }: Output): string {
  return colors.green(duplicate ? 'decided before: nothing has changed' : `decided, as ${decisionId}`);
}

/** Names the next steps for an inquiry whose run is gone. */
function nextSteps(action: DraftDecision['action'], runKey: string): string[] {
  if (action === 'resend') return [`The next start of ${runName(runKey)} sends it once more, with the same input.`];
  if (action === 'accept') return [`The next start of ${runName(runKey)} with the same input continues with it.`];
  return [];
}
