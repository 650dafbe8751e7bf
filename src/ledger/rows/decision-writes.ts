/** The statements that write decisions, and what they make of their inquiry. Each is part of a transaction of the ledger. */
import { STANDING_REPEATS } from '../../model/decision-content.ts';
import type { Answer, InquiryDescription } from '../../model/inquiry.ts';
import { chaining, columnsOf, lockHead } from '../audit/audit-chain.ts';
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

/** Why a standing repeat is one too many, or `null`. Two runs do not both take the last one: the head's lock is held from here on. */
export async function standingProblem(
  writing: Writing,
  { ownerId, productCode, customerTraceNumber }: InquiryDescription,
  { atMost }: DecisionRecord,
): Promise<string | null> {
  if (atMost === undefined) return null;
  await lockHead(writing);
  const [found] = await writing.session.rows<{ count: number }>(
    `SELECT count(DISTINCT d.customer_trace_number) AS count FROM decisions d
     JOIN inquiries i ON i.customer_trace_number = d.customer_trace_number
     WHERE i.owner_id = $1 AND i.product_code = $2 AND d.customer_trace_number <> $3
       AND d.action = 'repeat' AND d.decision_id LIKE $4`,
    [ownerId, productCode, customerTraceNumber, STANDING_REPEATS],
  );
  return (found?.count ?? 0) < atMost ? null : `the standing decision is used up: ${atMost} in all`;
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
