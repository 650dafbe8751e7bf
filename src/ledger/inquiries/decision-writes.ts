/** Checks and writes a decision within its transaction. */

import type { InquiryDescription } from '../../model/inquiry.ts';
import { wordProblem } from '../../model/provider-word.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { chaining, lockHead } from '../audit/audit-chain.ts';
import type { Transaction } from '../database/sql-session.ts';
import type { DecisionRecord } from '../records.ts';
import { consumerDigest, indexReference, referenceDigest } from '../reports/report-references.ts';
import type { DecisionEffect } from './decision.ts';
import { sealAnswer } from './inquiry-rows.ts';
import { answerColumns, updateAttempt } from './inquiry-writes.ts';

/** Writes a decision, and what it makes of its inquiry. */
export async function writeDecision(tx: Transaction, decision: DecisionRecord, effect: DecisionEffect): Promise<void> {
  await chaining(tx, async (insert) => {
    await insert('decisions', {
      ...decision,
      permitsAttempt: effect.kind === 'permit' ? effect.attempt : undefined,
    });
  });
  if (effect.kind === 'abandon') {
    const abandoned = `UPDATE inquiries SET abandoned_at = ${tx.dialect.now} WHERE customer_trace_number = $1`;
    await tx.session.rows(abandoned, [decision.customerTraceNumber]);
  }
  if (effect.kind !== 'accept') return;
  if (!decision.answer) throw new Error('accept without an answer');
  const { outcome, applicant_outcomes } = answerColumns(decision.answer);
  // An answer that came stays beside the accepted one.
  await updateAttempt(tx, decision, {
    state: 'accepted',
    accepted_by: decision.decisionId,
    accepted_answer: sealAnswer(tx.cipher, decision.answer, decision, 'accepted_answer'),
    outcome,
    applicant_outcomes,
  });
  await indexReference(tx, decision);
}

// Checks a decision within the transaction that writes it, so that no inquiry gets another inquiry's report.

/** Why the decision may not be taken: a path and a rule, never a value; or `null`. */
export async function acceptProblem(
  tx: Transaction,
  inquiry: InquiryDescription,
  decision: DecisionRecord,
): Promise<string | null> {
  const { action, answer, providerSaid } = decision;
  if (action === 'repeat') return null;
  const outcome = answer?.kind === 'outcome' ? answer.outcome : undefined;
  // Without the reason of the hold, only the rules that hold for every reason apply.
  const { failureType = 'UnexpectedResponse', confirmConsumerIds } = decision;
  const problem = wordProblem({ failureType, productCode: inquiry.productCode }, { action, outcome, providerSaid });
  const reference = answer?.kind === 'outcome' ? answer.reference : undefined;
  if (problem || !reference) return problem;
  // Two people who accept one number for two inquiries wait for each other here, and the second reads the first.
  await lockHead(tx);
  if (await isAnothersNumber(tx, inquiry, reference.reportReferenceNumber)) {
    return '/reference/reportReferenceNumber must be this inquiry’s: the ledger has it of another one';
  }
  if (confirmConsumerIds) return null;
  const unknown = await othersConsumer(tx, inquiry, reference);
  if (unknown === null) return null;
  return (
    `/reference/applicants/${unknown}/consumerId must be confirmed by confirmConsumerIds: the ledger has it of another ` +
    'applicant’s inquiries alone'
  );
}

/**
 * Whether another inquiry in the ledger has the number. A share's confirmation may repeat the number of the shared
 * report.
 */
async function isAnothersNumber(
  { session, cipher }: Transaction,
  { customerTraceNumber, runKey, shareId }: InquiryDescription,
  reportReferenceNumber: string,
): Promise<boolean> {
  const digest = referenceDigest(cipher, reportReferenceNumber);
  const rows = await session.rows(
    `SELECT 1 FROM report_references r JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
     WHERE r.reference_digest = $1 AND r.customer_trace_number <> $2
       AND NOT EXISTS (SELECT 1 FROM report_shares s WHERE s.reference_digest = $1
         AND ((s.run_key = i.run_key AND s.share_id = i.share_id) OR (s.run_key = $3 AND s.share_id = $4)))
     LIMIT 1`,
    [digest, customerTraceNumber, runKey, shareId ?? null],
  );
  return rows.length > 0;
}

/**
 * The first applicant of the reference whose `consumerId` the ledger knows only from elsewhere; `null` where there is
 * none. Elsewhere means neither an inquiry about this applicant of this run, nor the report that a share is of. One
 * person may rightly have one `consumerId` in several reports, and the ledger stores nothing that identifies persons:
 * so a person is asked.
 */
async function othersConsumer(
  { session, cipher }: Transaction,
  { runKey, shareId }: InquiryDescription,
  { applicants }: ReportReference,
): Promise<number | null> {
  for (const [index, { applicantId, consumerId }] of applicants.entries()) {
    const [row] = await session.rows<{ known: number; own: number | null }>(
      `SELECT count(*) AS known, sum(CASE WHEN c.applicant_id = $2 AND (i.run_key = $3 OR EXISTS (
           SELECT 1 FROM report_shares s JOIN report_references r ON r.reference_digest = s.reference_digest
           WHERE s.run_key = $3 AND s.share_id = $4 AND r.customer_trace_number = c.customer_trace_number))
         THEN 1 ELSE 0 END) AS own
       FROM report_consumers c JOIN inquiries i ON i.customer_trace_number = c.customer_trace_number
       WHERE c.consumer_digest = $1`,
      [consumerDigest(cipher, consumerId), applicantId, runKey, shareId ?? null],
    );
    if (row && Number(row.known) > 0 && Number(row.own ?? 0) === 0) return index;
  }
  return null;
}
