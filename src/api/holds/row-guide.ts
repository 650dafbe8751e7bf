/** What a row of the list means, and what each decision about it will do, in the words of the command line and the UI. */
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { HOLD_ACTIONS, type HoldAction, isFailureType } from '../../model/failure-types.ts';
import { ownerOf } from '../../model/owner-id.ts';
import type { ProductCode } from '../../model/products.ts';
import { PROVIDER_SAID, wordsThatPermit } from '../../model/provider-word.ts';
import { REPORT_OUTCOMES } from '../../model/report-outcome.ts';
import {
  actionWords,
  consequences,
  type DecidedInquiry,
  findPage,
  HOLD_GUIDE,
  meaningSentence,
  outcomeWords,
  PROVIDER_WORDS,
  questionSentences,
} from '../../words/holds.ts';
import { AS_TEXT } from '../../words/writer.ts';

const said = z.array(z.enum(PROVIDER_SAID)).meta({ description: 'The decision is taken with one of these alone.' });
const deed = {
  words: z.string().meta({ description: 'Few, to choose from.' }),
  does: z.string().meta({ description: 'What follows, as sentences.' }),
  providerSaid: said,
  needs: z
    .array(z.enum(['outcome', 'reference']))
    .exactOptional()
    .meta({ description: 'Members it needs beside.' }),
};

export const guideSchema = z
  .object({
    meaning: z.string(),
    onFile: z.string().exactOptional().meta({ description: 'What may be on the consumer’s file.' }),
    ask: z.string().exactOptional().meta({ description: 'What to ask the provider.' }),
    runbook: z.string().exactOptional().meta({ description: 'Its page in this repository.' }),
    providerWords: z
      .record(z.enum(PROVIDER_SAID), z.string())
      .meta({ description: 'How each value of `providerSaid` is said.' }),
    actions: z.array(
      z.object({
        action: z.enum([...HOLD_ACTIONS, 'seen']),
        ...deed,
        needsProviderSaid: z.boolean().meta({ description: 'Whether the provider has to be asked.' }),
        outcomes: z
          .array(z.object({ outcome: z.enum(REPORT_OUTCOMES), ...deed }))
          .exactOptional()
          .meta({ description: 'Of `accept`: one for each.' }),
      }),
    ),
  })
  .meta({ id: 'holdGuide' });

type Guide = z.infer<typeof guideSchema>;

interface GuidedRow {
  ownerId: string;
  reason: string;
  productCode?: ProductCode;
  customerTraceNumber?: string;
  shareId?: string;
  attempt?: number;
  allowedActions: readonly (HoldAction | 'seen')[];
}

export function guideOf(row: GuidedRow): Guide {
  return {
    ...meaningOf(row),
    providerWords: { ...PROVIDER_WORDS },
    actions: row.allowedActions.map((action) => actionOf(row, action)),
  };
}

function meaningOf(row: GuidedRow): Pick<Guide, 'meaning' | 'onFile' | 'ask' | 'runbook'> {
  const { reason, productCode, customerTraceNumber } = row;
  const isAskable = productCode !== undefined && customerTraceNumber !== undefined;
  return {
    meaning: meaningSentence(reason),
    ...defined({
      onFile: isFailureType(reason) ? HOLD_GUIDE[reason].file.join('') : undefined,
      ask: isAskable ? questionSentences({ reason, productCode, customerTraceNumber }, AS_TEXT) : undefined,
      runbook: findPage(reason),
    }),
  };
}

function actionOf(row: GuidedRow, action: HoldAction | 'seen'): Guide['actions'][number] {
  const inquiry = inquiryOf(row);
  const words = actionWords(action, inquiry);
  const { failureType, productCode } = inquiry;
  if (action === 'seen' || failureType === null) {
    return { action, words, does: sentences(action, inquiry), providerSaid: [], needsProviderSaid: false };
  }
  const judged = { failureType, productCode };
  if (action !== 'accept') {
    const permitting = [...wordsThatPermit(judged, { action })];
    const does = sentences(action, inquiry, { keepsApplicants: true });
    return { action, words, does, providerSaid: permitting, needsProviderSaid: !permitting.includes('notAsked') };
  }
  const outcomes = REPORT_OUTCOMES.map((outcome) => ({
    outcome,
    words: outcomeWords(outcome, productCode),
    does: sentences(action, inquiry, { outcome, isPosted: outcome === 'record' }),
    providerSaid: [...wordsThatPermit(judged, { action, outcome })],
    ...(outcome === 'record' ? { needs: ['reference' as const] } : {}),
  }));
  const permitting = PROVIDER_SAID.filter((word) => outcomes.some(({ providerSaid }) => providerSaid.includes(word)));
  return {
    ...{ action, words, does: sentences(action, inquiry), providerSaid: permitting, needs: ['outcome'], outcomes },
    needsProviderSaid: !permitting.includes('notAsked'),
  };
}

function sentences(...about: Parameters<typeof consequences>): string {
  return consequences(...about).join(' ');
}

/** Whether its run is open, the ledger does not know: the words are those of a run that goes on. */
function inquiryOf({ ownerId, reason, productCode, shareId, attempt = 0 }: GuidedRow): DecidedInquiry {
  const failureType = isFailureType(reason) ? reason : null;
  // Every hold has its product; of what was only flagged, the words say nothing of one.
  const product = productCode ?? 'CR';
  return { run: ownerOf(ownerId).kind, isRunning: true, failureType, productCode: product, shareId, attempt };
}
