/** The evidence of the HTTP API after a storm: its answers, and the messages in the histories. */
import type { Client } from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { temporal } from '@temporalio/proto';

type History = temporal.api.history.v1.IHistory;
type Event = temporal.api.history.v1.IHistoryEvent;
type Payloads = temporal.api.common.v1.IPayloads;

/** An answer 2xx to a start or a message, as its caller received it. */
export interface ApiAnswer {
  atMs: number;
  runKey: string;
  /** `start`, or the name of the run's update. */
  message: string;
  /** The message's business key. */
  key: string;
  /** The message as it was sent. It is personal, and is never printed. */
  body: object;
  said: { duplicate?: boolean | undefined; recorded?: boolean | undefined; heldBy?: string | undefined };
}

/** A call by a token that reaches none of the storm's runs. */
export interface ForeignCall {
  what: string;
  runKey: string;
  status: number;
  /** The answer equals that of the same call about an unused id. A start was answered only that the id is taken. */
  looksUnknown: boolean;
}

export interface ApiEvidence {
  answers: readonly ApiAnswer[];
  foreign: readonly ForeignCall[];
}

/** An update in a run's history. */
export interface MessageTaken {
  name: string;
  updateId: string;
  /** When the server had it. */
  atMs: number;
  /** `undefined` for what cannot be decoded. */
  content: unknown;
  /** It had an effect: answered with success, and not as a duplicate. */
  isApplied: boolean;
}

/** The input of a run. */
export interface StartTaken {
  /** A caller's start, neither a reset nor a continue-as-new. */
  isOwnStart: boolean;
  input: unknown;
}

/** A reset re-admits updates: those come as events of their own, and their acceptance is without the request. */
export async function readMessages(client: Client, { events }: History): Promise<MessageTaken[]> {
  const taken = new Map<string, MessageTaken>();
  for (const event of events ?? []) {
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    const request = accepted?.acceptedRequest ?? event.workflowExecutionUpdateAdmittedEventAttributes?.request;
    const updateId = request?.meta?.updateId;
    if (request && updateId) {
      const content = await decoded(client, request.input?.args);
      const name = request.input?.name ?? '';
      taken.set(updateId, { name, updateId, atMs: msOf(event), content, isApplied: false });
    }
    const completed = event.workflowExecutionUpdateCompletedEventAttributes;
    const known = taken.get(completed?.meta?.updateId ?? '');
    if (!known || !completed?.outcome?.success) continue;
    const answer = (await decoded(client, completed.outcome.success)) as
      | { duplicate?: boolean; recorded?: boolean }
      | undefined;
    // Until the ledger has a consent, the run does not know whether it is a duplicate.
    const isJudged = known.name !== 'recordConsent' || answer?.recorded !== false;
    known.isApplied = answer?.duplicate === false && isJudged;
  }
  return [...taken.values()];
}

export async function readStart(client: Client, { events }: History, runId: string): Promise<StartTaken> {
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    isOwnStart: started?.originalExecutionRunId === runId && !started?.continuedExecutionRunId,
    input: await decoded(client, started?.input),
  };
}

async function decoded(client: Client, payloads: Payloads | null | undefined): Promise<unknown> {
  const { loadedDataConverter } = client.options;
  return decodeFromPayloadsAtIndex(loadedDataConverter, 0, payloads?.payloads).catch(() => undefined);
}

function msOf({ eventTime }: Event): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6);
}
