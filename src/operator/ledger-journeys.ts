/**
 * The client of the command line and of the HTTP API, which run beside the ledger: it also reads
 * and writes the ledger, and traces its calls.
 */

import { type ClientParts, type ConnectOptions, connectParts } from '../client/connection/connect.ts';
import { CreditJourneys } from '../client/credit-journeys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openConfiguredLedger } from './configured-ledger.ts';

export interface LedgerConnectOptions extends ConnectOptions {
  /** How the ledger is opened, once. Default: as `LEDGER_URL`, `LEDGER_ID` and `KEY_RING_FILE` say. */
  openLedger?: () => Promise<Ledger>;
}

export class LedgerJourneys extends CreditJourneys {
  readonly #openLedger: () => Promise<Ledger>;
  #ledger: Promise<Ledger> | undefined;

  /** @internal */
  protected constructor(parts: ClientParts, openLedger: () => Promise<Ledger>) {
    super(parts);
    this.#openLedger = openLedger;
  }

  /**
   * Connects to Temporal, and opens the ledger when a call needs it.
   *
   * @throws ConfigError, InvalidInputError, KeyRingError, CallError
   */
  static override async connect(options: LedgerConnectOptions = {}): Promise<LedgerJourneys> {
    const { openLedger = () => openConfiguredLedger() } = options;
    const loadTracing = async () => (await import('../telemetry/client-tracing.ts')).createClientTracing();
    return new LedgerJourneys(await connectParts(options, loadTracing), openLedger);
  }

  /**
   * The ledger, opened once by the first call that needs it. The client closes it.
   *
   * @internal
   */
  getLedger(): Promise<Ledger> {
    this.#ledger ??= this.#openLedger().catch((error) => {
      this.#ledger = undefined;
      throw error;
    });
    return this.#ledger;
  }

  override async close(): Promise<void> {
    await super.close();
    await (await this.#ledger?.catch(() => undefined))?.close();
  }
}
