/** A run's history as it grows. */
import type { WorkflowHandle } from '@temporalio/client';
import { isCancelled, isDeadline, isServerAway } from '../connection/error-translation.ts';
import { TemporalUnavailableError } from '../connection/errors.ts';

/** Reads a run's history by long polls, each from where the one before has ended. */
export class HistoryEvents {
  readonly #client: WorkflowHandle['client'];
  readonly #execution: { workflowId: string; runId?: string };
  #token: Uint8Array | undefined;

  /** @param runId default: the latest run */
  constructor({ client, workflowId }: Pick<WorkflowHandle, 'client' | 'workflowId'>, runId?: string) {
    this.#client = client;
    this.#execution = { workflowId, ...(runId === undefined ? {} : { runId }) };
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
    const ask = () => workflowService.getWorkflowExecutionHistory(request);
    try {
      return await (signal ? this.#client.withAbortSignal(signal, ask) : ask());
    } catch (error) {
      // A long poll without news is no failure.
      if (isDeadline(error)) return null;
      const isHungUp = isCancelled(error) && !signal?.aborted;
      if (isHungUp || isServerAway(error)) throw new TemporalUnavailableError('it is away or overloaded');
      throw error;
    }
  }
}
