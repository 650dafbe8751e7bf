/** What needs a person, in words, with the command that resolves it. Nothing personal is in any of it. */
import type { OpenHold } from '../../client.ts';
import { isFailureType } from '../../model/failure-types.ts';
import { ATTENTION_GUIDE, type DecidedInquiry, HOLD_GUIDE, inquiryWords, runbookPage } from '../../model/hold-guide.ts';
import { ownerOf } from '../../model/owner-id.ts';
import { problemWords } from '../../model/problems.ts';
import { tableWithIds, withAge } from './output.ts';
import { asCalled } from './program-call.ts';

/** The command that resolves it; on a terminal it asks for the options that are missing. */
export function resolveCommand(hold: OpenHold): string {
  const { journeyId, customerTraceNumber, attempt, heldBy } = hold;
  if (heldBy === 'run') {
    // A share that was revoked after posting waits for nothing in its run: a person should look.
    if (attempt === undefined) return `credit-journey status ${journeyId}`;
    return `credit-journey resolve ${journeyId} ${customerTraceNumber} --attempt ${attempt}`;
  }
  const judged = attempt === undefined ? '--action seen' : `--attempt ${attempt}`;
  return `credit-journey resolve --ledger ${customerTraceNumber} ${judged}`;
}

/** In lines that can be copied whole into a shell. */
export function commandLines(command: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of asCalled(command).split(' ')) {
    const longer = line.trim() === '' ? `${line}${word}` : `${line} ${word}`;
    if (line.trim() !== '' && longer.length > width - 2) {
      lines.push(`${line} \\`);
      line = `${indent}    ${word}`;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}

/** A row for each, and under it the command. */
export function holdTable(holds: readonly OpenHold[], width: number): string[] {
  const [head = [], ...rows] = tableWithIds(
    [['REASON', 'PRODUCT', 'ATTEMPT', 'SINCE', 'JOURNEY'], ...holds.map(holdRow)],
    width,
  );
  return [...head, ...rows.flatMap((row, index) => [...row, ...commandLines(commandOf(holds[index]), width, '    ')])];
}

function commandOf(hold: OpenHold | undefined): string {
  return hold ? resolveCommand(hold) : '';
}

function holdRow({ reason, productCode, attempt, since, journeyId, heldBy }: OpenHold): string[] {
  return [
    isFailureType(reason) ? reason : ATTENTION_GUIDE[reason].words,
    productCode,
    attempt === undefined ? '' : String(attempt),
    since === undefined ? '' : withAge(since),
    heldBy === 'ledger' && attempt !== undefined ? `${journeyId} (no run)` : journeyId,
  ];
}

/** `2026-01-02T03:04:05.678Z` → `2026-01-02T03:04:05Z` */
function seconds(instant: string): string {
  return instant.replace(/\.\d+/, '');
}

/** Everything about one hold, for an operator who is about to decide. */
export function holdFacts(hold: OpenHold): string[][] {
  const { reason, httpStatus, returnCode, returnReasonCode, attempt, since, customerTraceNumber } = hold;
  const { otherTraceNumber, refusalKept, resendFrom, problems = [] } = hold;
  const answer = [
    ...(httpStatus === undefined ? [] : [`HTTP ${httpStatus}`]),
    ...(returnCode === undefined ? [] : [`return code ${returnCode}`]),
    ...(returnReasonCode === undefined ? [] : [`reason ${returnReasonCode}`]),
  ];
  const { kind, id } = ownerOf(hold.journeyId);
  return [
    [kind, hold.heldBy === 'run' ? id : `${id} (it has no run)`],
    ['inquiry', inquiryWords(hold)],
    ['trace number', customerTraceNumber],
    ...(otherTraceNumber === undefined ? [] : [['made already under', otherTraceNumber]]),
    ['reason', [reason, ...answer].join(', ')],
    ...problems.map((problem) => ['problem', problemWords(problem)]),
    ...(attempt === undefined ? [] : [['attempt', String(attempt)]]),
    ...(refusalKept && attempt !== undefined
      ? [['it wrote', `credit-journey report --attempt ${customerTraceNumber}/${attempt}`]]
      : []),
    ...(since === undefined ? [] : [['since', withAge(since)]]),
    ...(resendFrom === undefined ? [] : [['resend from', seconds(resendFrom)]]),
  ];
}

/** What it means, what may be on the consumer's file, and where the runbook has it. */
export function holdMeaning({ reason }: OpenHold): string[] {
  if (!isFailureType(reason)) return [`Runbook: ${ATTENTION_GUIDE[reason].page}`];
  const { happened, file } = HOLD_GUIDE[reason];
  return [`What happened: ${happened}`, `On the consumer’s file: ${file.join('')}`, `Runbook: ${runbookPage(reason)}`];
}

/** The hold as the guide takes it. */
export function decidedInquiry({
  journeyId,
  heldBy,
  reason,
  productCode,
  shareId,
  attempt = 0,
}: OpenHold): DecidedInquiry {
  const failureType = isFailureType(reason) ? reason : null;
  return { run: ownerOf(journeyId).kind, isRunning: heldBy === 'run', failureType, productCode, shareId, attempt };
}
