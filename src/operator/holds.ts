/** The rows that need a person: their schema, their meaning, and the effect of each decision. */
import { z } from 'zod';
import type { OperatorTask } from '../ledger/holds/holds.ts';
import { holdStatusSchema, instant, optionalText } from '../messages/journey/shapes.ts';
import { FAILURES, HOLD_ACTIONS, isFailureType } from '../model/failure-types.ts';
import { LASTING_FLAGS } from '../model/inquiry.ts';
import { PRODUCTS } from '../model/products.ts';
import { PROVIDER_SAID } from '../model/provider-word.ts';
import { REPORT_OUTCOMES } from '../model/report-outcome.ts';
import { parseRunKey } from '../model/run-key.ts';
import { MAX_ORDINAL } from '../model/trace-number.ts';
import { describeAction, describeQuestion, describeReason, PROVIDER_WORDS } from '../words/holds.ts';
import { AS_TEXT } from '../words/writer.ts';

const said = z.array(z.enum(PROVIDER_SAID)).describe('The decision needs one of these.');
const deed = {
  words: z.string().describe('A short label for the choice.'),
  does: z.string().describe('What the decision will do, in sentences.'),
  providerSaid: said,
  needs: z
    .array(z.enum(['outcome', 'reference']))
    .optional()
    .describe('Further members that the decision needs.'),
};

const guideSchema = z
  .object({
    meaning: z.string(),
    onFile: optionalText.describe('What may be on the consumer’s file.'),
    ask: optionalText.describe('What to ask the provider.'),
    runbook: optionalText.describe('Its page in this repository.'),
    providerWords: z.record(z.enum(PROVIDER_SAID), z.string()).describe('The wording of each value of `providerSaid`.'),
    actions: z.array(
      z.object({
        action: z.enum([...HOLD_ACTIONS, 'seen']),
        ...deed,
        needsProviderSaid: z.boolean().describe('Whether the operator has to ask the provider.'),
        outcomes: z
          .array(z.object({ outcome: z.enum(REPORT_OUTCOMES), ...deed }))
          .optional()
          .describe('For `accept`: one for each outcome.'),
      }),
    ),
  })
  .meta({ id: 'holdGuide' });

export const holdSchema = z
  .object({
    holdId: z.string(),
    kind: z
      .enum(['held', 'flagged'])
      .describe('held: an inquiry waits for a decision. flagged: an operator should look, and nothing waits for it.'),
    failureType: z.string().describe('Or, of a flagged row, its flag. The runbook has a page about each.'),
    since: instant,
    runKey: z.string().describe('The run: a journeyId, pull:<pullId>, share:<shareId>, portfolio:<reviewId>.'),
    profile: z.string(),
    endUserCode: optionalText,
    endUser: optionalText,
    productCode: z.enum(PRODUCTS).optional(),
    shareId: optionalText,
    customerTraceNumber: optionalText,
    attempt: z.int().min(0).optional().describe('The attempt that a decision judges.'),
    // From the run. Absent if the inquiry itself has it: GET /v1/inquiries.
    ...holdStatusSchema.pick({ applicantIds: true, httpStatus: true, returnCode: true, returnReasonCode: true }).shape,
    ...holdStatusSchema.pick({ otherTraceNumber: true, resendFrom: true, problems: true, refusalKept: true }).shape,
    allowedActions: z
      .array(z.enum([...HOLD_ACTIONS, 'seen']))
      .describe(
        'Follows from the failure type. A lost run accepts no amend; if it sent nothing either, the row can only be marked as seen.',
      ),
    decideAt: optionalText.describe('The address to POST the decision to.'),
    guide: guideSchema.describe('The meaning of the hold, and what each decision will do, in plain sentences.'),
  })
  .meta({ id: 'hold' });

export type Hold = z.infer<typeof holdSchema>;

/** A row of the ledger, as every surface lists it. No run is asked whether it is still open: `readDecidable` does. */
export function describeHold(task: OperatorTask): Hold {
  const { workId: holdId, details, reason: failureType, ...row } = task;
  const { runKey, customerTraceNumber } = row;
  const allowedActions = listActions(task);
  const run = `/v1/runs/${encodeURIComponent(runKey)}`;
  const seenAt = customerTraceNumber === undefined ? `${run}/seen` : `/v1/inquiries/${customerTraceNumber}/seen`;
  const address = allowedActions.includes('seen') ? seenAt : `${run}/decisions`;
  const decideAt = allowedActions.length === 0 ? undefined : address;
  const hold = { holdId, failureType, ...row, ...details, allowedActions, decideAt };
  return { ...hold, guide: writeGuide(hold) };
}

/** The last two digits of a trace number count its amendments. */
function listActions({ kind, reason, productCode, customerTraceNumber }: OperatorTask): Hold['allowedActions'] {
  if (kind === 'held' && isFailureType(reason)) {
    const mayAmend = productCode !== 'SECONDUSE' && Number(customerTraceNumber?.slice(-2)) < MAX_ORDINAL;
    return FAILURES[reason].actions.filter((action) => action !== 'amend' || mayAmend);
  }
  // For the other flags of a run, an operator has to fix the cause.
  return customerTraceNumber !== undefined || LASTING_FLAGS.includes(reason) ? ['seen'] : [];
}

function writeGuide({ failureType: cause, productCode, customerTraceNumber, ...hold }: Omit<Hold, 'guide'>) {
  const { meaning, page: runbook } = describeReason(cause);
  const isAskable = productCode !== undefined && customerTraceNumber !== undefined;
  const failureType = isFailureType(cause) ? cause : null;
  // Every hold has its product. The words for a row that was only flagged do not mention one.
  const inquiry = { failureType, productCode: productCode ?? 'CR', shareId: hold.shareId, attempt: hold.attempt ?? 0 };
  const run = parseRunKey(hold.runKey).kind;
  return {
    meaning,
    onFile: failureType ? FAILURES[failureType].file.join('') : undefined,
    ask: isAskable ? describeQuestion({ failureType: cause, productCode, customerTraceNumber }, AS_TEXT) : undefined,
    runbook,
    providerWords: { ...PROVIDER_WORDS },
    actions: hold.allowedActions.map((action) => describeAction(action, { run, ...inquiry })),
  };
}
