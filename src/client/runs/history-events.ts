/** A run's history as it grows. */
import type { WorkflowHandle } from '@temporalio/client';
import { isCancelled, isDeadline, isServerAway, serverAway } from '../connection/error-translation.ts';

interface HistoryOptions {
  /** Default: the latest run. */
  runId?: string;
  /** Makes each long poll, and ends it. Default: the signal alone ends it. */
  call?: <T>(ask: () => Promise<T>) => Promise<T>;
}

/** Reads a run's history by long polls, each from where the one before has ended. */
export class HistoryEvents {
  readonly #client: WorkflowHandle['client'];
  readonly #execution: { workflowId: string; runId?: string };
  readonly #call: HistoryOptions['call'];
  #token: Uint8Array | undefined;

  constructor({ client, workflowId }: Pick<WorkflowHandle, 'client' | 'workflowId'>, options: HistoryOptions = {}) {
    const { runId, call } = options;
    this.#client = client;
    this.#execution = { workflowId, ...(runId === undefined ? {} : { runId }) };
    this.#call = call;
  }

  /**
   * Waits until a workflow task has completed, which alone can change the status, or the run has closed.
   *
   * @throws TemporalUnavailableError; the SDK's error of a cancelled call where the signal is aborted
   */
  async next(signal: AbortSignal | undefined): Promise<{ isClosed: boolean }> {
    for (;;) {
      const response = await this.#poll(signal);
      if (!response) continue;
      this.#token = response.nextPageToken ?? undefined;
      const isClosed = !this.#token || this.#token.length === 0;
      const events = response.history?.events ?? [];
      if (isClosed || events.some((event) => event.workflowTaskCompletedEventAttributes)) return { isClosed };
    }
  }

  async #poll(signal: AbortSignal | undefined) {
    const { options, workflowService } = this.#client;
    const request = {
      namespace: options.namespace,
      execution: this.#execution,
      waitNewEvent: true,
      ...(this.#token ? { nextPageToken: this.#token } : {}),
    };
    const ask = async () => {
      try {
        return await workflowService.getWorkflowExecutionHistory(request);
      } catch (error) {
        // A long poll without news is no failure.
        if (isDeadline(error)) return null;
        if ((isCancelled(error) && !signal?.aborted) || isServerAway(error)) throw serverAway(error);
        throw error;
      }
    };
    if (this.#call) return this.#call(ask);
    return signal ? this.#client.withAbortSignal(signal, ask) : ask();
  }
}
