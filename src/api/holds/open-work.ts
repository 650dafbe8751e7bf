/** Work that needs an operator, by the ledger's rows. The list needs no worker, and it includes lost runs. */
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import type { WorkRow } from '../../ledger/holds/work.ts';
import { holdStatusSchema } from '../../messages/journey/shapes.ts';
import { FAILURES, HOLD_ACTIONS, isFailureType } from '../../model/failure-types.ts';
import { PRODUCTS } from '../../model/products.ts';
import { PROVIDER_SAID } from '../../model/provider-word.ts';
import { REPORT_OUTCOMES } from '../../model/report-outcome.ts';
import { parseRunKey } from '../../model/run-key.ts';
import { type OpenHold, toHold } from '../../operator/open-work.ts';
import {
  type DecidedInquiry,
  describeAction,
  findPage,
  meaningSentence,
  PROVIDER_WORDS,
  questionSentences,
} from '../../words/holds.ts';
import { AS_TEXT } from '../../words/writer.ts';

// The meaning of a row, and the effect of each decision about it.

const said = z.array(z.enum(PROVIDER_SAID)).meta({ description: 'The decision needs one of these.' });
const deed = {
  words: z.string().meta({ description: 'A short label for the choice.' }),
  does: z.string().meta({ description: 'What the decision will do, in sentences.' }),
  providerSaid: said,
  needs: z
    .array(z.enum(['outcome', 'reference']))
    .exactOptional()
    .meta({ description: 'Further members that the decision needs.' }),
};

const guideSchema = z
  .object({
    meaning: z.string(),
    onFile: z.string().exactOptional().meta({ description: 'What may be on the consumer’s file.' }),
    ask: z.string().exactOptional().meta({ description: 'What to ask the provider.' }),
    runbook: z.string().exactOptional().meta({ description: 'Its page in this repository.' }),
    providerWords: z
      .record(z.enum(PROVIDER_SAID), z.string())
      .meta({ description: 'The wording of each value of `providerSaid`.' }),
    actions: z.array(
      z.object({
        action: z.enum([...HOLD_ACTIONS, 'seen']),
        ...deed,
        needsProviderSaid: z.boolean().meta({ description: 'Whether the operator has to ask the provider.' }),
        outcomes: z
          .array(z.object({ outcome: z.enum(REPORT_OUTCOMES), ...deed }))
          .exactOptional()
          .meta({ description: 'For `accept`: one for each outcome.' }),
      }),
    ),
  })
  .meta({ id: 'holdGuide' });

type Guide = z.infer<typeof guideSchema>;

function writeGuide(hold: OpenHold): Guide {
  const { reason, productCode, customerTraceNumber } = hold;
  const isAskable = productCode !== undefined && customerTraceNumber !== undefined;
  return {
    meaning: meaningSentence(reason),
    ...omitUndefined({
      onFile: isFailureType(reason) ? FAILURES[reason].file.join('') : undefined,
      ask: isAskable ? questionSentences({ reason, productCode, customerTraceNumber }, AS_TEXT) : undefined,
      runbook: findPage(reason),
    }),
    providerWords: { ...PROVIDER_WORDS },
    actions: hold.allowedActions.map((action) => describeAction(action, toDecidedInquiry(hold))),
  };
}

/** The ledger does not know whether the run is open. So the words are those for a running one. */
function toDecidedInquiry({ runKey, reason, productCode, shareId, attempt = 0 }: OpenHold): DecidedInquiry {
  const failureType = isFailureType(reason) ? reason : null;
  // Every hold has its product. The words for a row that was only flagged do not mention one.
  const product = productCode ?? 'CR';
  return { run: parseRunKey(runKey).kind, isRunning: true, failureType, productCode: product, shareId, attempt };
}

// The list of work that needs an operator.

const fields = holdStatusSchema.shape;
const instant = z.string().meta({ format: 'date-time' });

export const holdSchema = z
  .object({
    holdId: z.string(),
    kind: z.enum(['held', 'flagged']).meta({
      description: 'held: an inquiry waits for a decision. flagged: a person should look, and nothing waits for it.',
    }),
    reason: z.string().meta({ description: 'The runbook has a page about each.' }),
    since: instant,
    runKey: z
      .string()
      .meta({ description: 'The run: a journeyId, pull:<pullId>, share:<shareId>, portfolio:<reviewId>.' }),
    profile: z.string(),
    endUserCode: z.string().exactOptional(),
    endUser: z.string().exactOptional(),
    productCode: z.enum(PRODUCTS).exactOptional(),
    shareId: z.string().exactOptional(),
    customerTraceNumber: z.string().exactOptional(),
    attempt: z.int().min(0).exactOptional().meta({ description: 'The attempt that a decision judges.' }),
    // From the run. Absent if the inquiry itself has it: GET /v1/inquiries.
    ...{ applicantIds: fields.applicantIds, httpStatus: fields.httpStatus, returnCode: fields.returnCode },
    ...{ returnReasonCode: fields.returnReasonCode, otherTraceNumber: fields.otherTraceNumber },
    ...{ resendFrom: fields.resendFrom, problems: fields.problems },
    refusalKept: z.literal(true).exactOptional().meta({ description: 'The ledger keeps what the gateway wrote.' }),
    allowedActions: z.array(z.enum([...HOLD_ACTIONS, 'seen'])).meta({
      description:
        'Follows from the reason. A lost run takes no amend; if it sent nothing either, the row can only be marked as seen.',
    }),
    decideAt: z.string().exactOptional().meta({ description: 'The address to POST the decision to.' }),
    guide: guideSchema.meta({
      description: 'The meaning of the hold, and what each decision will do, in plain sentences.',
    }),
  })
  .meta({ id: 'hold' });

type Hold = z.infer<typeof holdSchema>;

/** A row as the API answers it. */
export function describeHold(row: WorkRow): Hold {
  const hold = toHold(row);
  const { runKey, customerTraceNumber, allowedActions } = hold;
  const run = `/v1/runs/${encodeURIComponent(runKey)}`;
  const seenAt = customerTraceNumber === undefined ? `${run}/seen` : `/v1/inquiries/${customerTraceNumber}/seen`;
  const decideAt = allowedActions.includes('seen') ? seenAt : `${run}/decisions`;
  return {
    ...(hold as Hold),
    ...(allowedActions.length === 0 ? {} : { decideAt }),
    guide: writeGuide(hold),
  };
}
