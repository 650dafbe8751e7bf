/** Reads a run's history: the attempts, consents and decisions that its decoded payloads name. */
import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { type Timestamp, tsToMs } from '@temporalio/common/lib/time.js';
import type { AuditedAttempt } from '../ledger/audit/audited.ts';

export interface HistoryWords {
  hasAttempt(attempt: NamedAttempt): boolean;
  hasConsent(consent: { shareId: string; applicantId: string; consentId: string; decision: string }): boolean;
  hasDecision(decisionId: string): boolean;
  hasWithdrawal(withdrawal: { shareId: string; by: string; reason: string }): boolean;
  /** If an activity about this inquiry ended after `instant` (RFC 3339), the run knows the ledger's state then. */
  hasAskedSince(customerTraceNumber: string, instant: string): boolean;
}

type NamedAttempt = Pick<AuditedAttempt, 'customerTraceNumber' | 'attempt'>;

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** After continue-as-new, a run's input does not always repeat the messages that an earlier run received. */
const MOST_RUNS = 50;

/**
 * Reads the histories of a run and of those that handed over to it, as far as Temporal still has them.
 *
 * @throws the SDK's errors, and what decoding throws
 */
export async function wordsOfRun(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<HistoryWords> {
  const names = new Set<string>();
  const askedAtMs = new Map<string, number>();
  let next: string | undefined = runId;
  for (let runs = 0; next !== undefined && runs < MOST_RUNS; runs++) {
    const events: HistoryEvent[] = (await fetchHistory(client, workflowId, next))?.events ?? [];
    await readEvents(client, events, { names, askedAtMs });
    next = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  }
  return {
    hasAttempt: (attempt) => names.has(attemptName(attempt)),
    hasConsent: (consent) => names.has(consentName(consent)),
    hasDecision: (decisionId) => names.has(decisionName(decisionId)),
    hasWithdrawal: (withdrawal) => names.has(withdrawalName(withdrawal)),
    hasAskedSince: (trace, instant) => (askedAtMs.get(trace) ?? 0) > Date.parse(instant),
  };
}

async function readEvents(
  client: Client,
  events: readonly HistoryEvent[],
  { names, askedAtMs }: { names: Set<string>; askedAtMs: Map<string, number> },
): Promise<void> {
  /** Trace numbers in the input of each activity, by the id of the event that scheduled it. */
  const scheduled = new Map<string, Set<string>>();
  for (const event of events) {
    const payloads: Payload[] = [];
    collectPayloads(event, payloads);
    const values = await decodePayloads(client, payloads);
    for (const value of values) collectNames(value, names);
    if (event.activityTaskScheduledEventAttributes) {
      const traces = new Set<string>();
      for (const value of values) collectTraces(value, traces);
      scheduled.set(String(event.eventId), traces);
    }
    const ended = event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes;
    if (!ended || !event.eventTime) continue;
    const endedAtMs = tsToMs(event.eventTime as Timestamp);
    for (const trace of scheduled.get(String(ended.scheduledEventId)) ?? []) askedAtMs.set(trace, endedAtMs);
  }
}

function collectTraces(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  const { customerTraceNumber } = value as { customerTraceNumber?: unknown };
  if (typeof customerTraceNumber === 'string') into.add(customerTraceNumber);
  for (const member of Object.values(value)) collectTraces(member, into);
}

async function fetchHistory(client: Client, workflowId: string, runId: string) {
  try {
    return await client.workflow.getHandle(workflowId, runId).fetchHistory();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Payloads lie in many kinds of events: each object with metadata and data is one. */
function collectPayloads(value: unknown, into: Payload[]): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  const { metadata, data } = value as Payload;
  if (metadata && data instanceof Uint8Array) {
    into.push(value as Payload);
    return;
  }
  for (const member of Object.values(value)) collectPayloads(member, into);
}

async function decodePayloads(client: Client, payloads: Payload[]): Promise<unknown[]> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  let plain = payloads;
  for (const codec of payloadCodecs) plain = await codec.decode(plain);
  return plain.flatMap((payload) => {
    try {
      return [payloadConverter.fromPayload<unknown>(payload)];
    } catch {
      // Not JSON: none of ours.
      return [];
    }
  });
}

function collectNames(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) nameMembers(value as Record<string, unknown>, into);
  for (const member of Object.values(value)) collectNames(member, into);
}

function nameMembers(object: Record<string, unknown>, into: Set<string>): void {
  const { attempt, customerTraceNumber, inquiry, decisionId, consentId, applicantId, shareId, decision, by, reason } =
    object;
  const trace = customerTraceNumber ?? (inquiry as { customerTraceNumber?: unknown } | undefined)?.customerTraceNumber;
  if (typeof attempt === 'number' && typeof trace === 'string') {
    into.add(attemptName({ customerTraceNumber: trace, attempt }));
  }
  if (typeof decisionId === 'string') into.add(decisionName(decisionId));
  if (isTexts(shareId, applicantId, consentId, decision))
    into.add(textsName('consent', ...([shareId, applicantId, consentId, decision] as string[])));
  if (isTexts(shareId, by, reason)) into.add(textsName('withdrawal', ...([shareId, by, reason] as string[])));
}

function isTexts(...values: unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function textsName(kind: string, ...parts: string[]): string {
  return JSON.stringify([kind, ...parts]);
}

function attemptName({ customerTraceNumber, attempt }: { customerTraceNumber: string; attempt: number }): string {
  return textsName('attempt', customerTraceNumber, String(attempt));
}

function consentName(consent: { shareId: string; applicantId: string; consentId: string; decision: string }): string {
  return textsName('consent', consent.shareId, consent.applicantId, consent.consentId, consent.decision);
}

function decisionName(decisionId: string): string {
  return textsName('decision', decisionId);
}

function withdrawalName({ shareId, by, reason }: { shareId: string; by: string; reason: string }): string {
  return textsName('withdrawal', shareId, by, reason);
}
