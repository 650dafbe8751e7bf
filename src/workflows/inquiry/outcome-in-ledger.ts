/** The outcome of an inquiry that another run has made. */
import type { InquiryContent, Outcome } from '../../model/inquiry.ts';
import { lookAgain, waitOut } from './attempt.ts';
import { describeInquiry } from './describe-inquiry.ts';
import type { InquiryHost, InquirySpec } from './inquiry-spec.ts';

/**
 * Reads the outcome of another run's attempt, such as one before a reset. Waits while an attempt may still be answered.
 * `undefined` where the ledger has no outcome of this very request.
 */
export async function outcomeInLedger(
  host: InquiryHost,
  spec: InquirySpec,
): Promise<{ answer: Outcome; customerTraceNumber: string } | undefined> {
  const inquiry = describeInquiry(host.run, spec, 0);
  const content: InquiryContent = { inquiry, ...(spec.reference ? { reference: spec.reference } : {}) };
  let step = await lookAgain(host, content, 1);
  while (step.kind === 'wait') step = await waitOut(host, content, step);
  if (step.kind !== 'answered' || step.answer.kind !== 'outcome') return undefined;
  return { answer: step.answer, customerTraceNumber: inquiry.customerTraceNumber };
}
