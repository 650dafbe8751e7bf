/** The statements that write decisions, and what they make of their inquiry. Each is part of a transaction of the ledger. */
import type { Answer } from '../../model/inquiry.ts';
import { chaining, columnsOf } from '../audit/audit-chain.ts';
import type { Writing } from '../database/writing.ts';
import type { DecisionRecord } from '../records.ts';
import { detailsOf, summaryOf } from './answer-columns.ts';
import { sealAnswer } from './inquiry-rows.ts';
import { insertRow } from './inquiry-writes.ts';

export async function insertDecision(
  writing: Writing,
  decision: DecisionRecord,
  permitsAttempt: number | undefined,
): Promise<void> {
  await chaining(writing, async (append) => {
    const row = await insertRow(
      writing.session,
      'decisions',
      {
        customer_trace_number: decision.customerTraceNumber,
        attempt: decision.attempt,
        decision_id: decision.decisionId,
        action: decision.action,
        decided_by: decision.by,
        reason: decision.reason,
        provider_said: decision.providerSaid,
        failure_type: decision.failureType,
        decided_at: decision.decidedAt,
        permits_attempt: permitsAttempt,
        confirms_consumers: decision.confirmConsumerIds ? 1 : undefined,
        proven_by: decision.provenBy,
      },
      { sql: { recorded_at: writing.dialect.now }, returning: columnsOf('decisions') },
    );
    if (row) await append('decisions', row);
  });
}

/** An answer that came stays beside the accepted one. */
export async function writeAccepted(
  { session, cipher }: Writing,
  decision: DecisionRecord,
  answer: Answer,
): Promise<void> {
  const row = { customer_trace_number: decision.customerTraceNumber, attempt: decision.attempt };
  await session.rows(
    `UPDATE attempts SET state = 'accepted', accepted_by = $3, accepted_answer = $4, outcome = $5,
       applicant_outcomes = $6
     WHERE customer_trace_number = $1 AND attempt = $2`,
    [
      row.customer_trace_number,
      row.attempt,
      decision.decisionId,
      sealAnswer(cipher, answer, row, 'accepted_answer'),
      summaryOf(answer).outcome,
      detailsOf(answer).applicantOutcomes,
    ],
  );
}

export async function writeAbandoned({ session, dialect }: Writing, customerTraceNumber: string): Promise<void> {
  await session.rows(`UPDATE inquiries SET abandoned_at = ${dialect.now} WHERE customer_trace_number = $1`, [
    customerTraceNumber,
  ]);
}
