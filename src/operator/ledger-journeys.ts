/**
 * The client of the command line and of the HTTP API, which run beside the ledger: it also decides
 * about inquiries whose run is gone, and traces its calls.
 */

import {
  type Additions,
  type ClientParts,
  type ConnectOptions,
  connectedParts,
  toClientUse,
} from '../client/connection/connect.ts';
import { CreditJourneys } from '../client/credit-journeys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SeenRecord } from '../ledger/records.ts';
import { openConfiguredLedger } from './configured-ledger.ts';
import {
  decideInLedger,
  type LedgerDecision,
  type LedgerDecisionAnswer,
  markRunSeen,
  markSeen,
  type RunSeenBy,
} from './ledger-decisions.ts';

export type { LedgerDecision, LedgerDecisionAnswer } from './ledger-decisions.ts';

export interface LedgerConnectOptions extends ConnectOptions {
  /** How the ledger is opened, once. Default: as `LEDGER_URL`, `LEDGER_ID` and `KEY_RING_FILE` say. */
  openLedger?: () => Promise<Ledger>;
  /**
   * Spans of starts, signals and updates by the OpenTelemetry provider that the program has registered, and their
   * context in Temporal's headers. Default: whether `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
   */
  traces?: boolean;
}

export class LedgerJourneys extends CreditJourneys {
  readonly #ledger: LazyLedger;

  /** @internal */
  protected constructor(parts: ClientParts, ledger: LazyLedger) {
    super(parts);
    this.#ledger = ledger;
  }

  /**
   * Connects to Temporal, and opens the ledger when a call needs it.
   *
   * @throws ConfigError, InvalidInputError, KeyRingError, TemporalUnavailableError, TemporalRefusedError, CallAbortedError
   */
  static override async connect(options: LedgerConnectOptions = {}): Promise<LedgerJourneys> {
    const ledger = new LazyLedger(
      options.openLedger ?? (() => openConfiguredLedger(process.env, toClientUse(options))),
    );
    const additions: Additions = {
      tracing: async () => (await import('../telemetry/client-tracing.ts')).clientTracing(),
      ...(options.traces === undefined ? {} : { traces: options.traces }),
    };
    return new LedgerJourneys(await connectedParts(options, additions), ledger);
  }

  /**
   * Decides about an inquiry whose run is gone; a new start of the journey finds the decision in the ledger.
   *
   * @throws InvalidInputError; DecisionRefusedError where it makes no sense: nothing has changed
   */
  decideInLedger(decision: LedgerDecision): Promise<LedgerDecisionAnswer> {
    return decideInLedger(this.context(), decision);
  }

  /** @throws DecisionRefusedError where nothing that came too late is left unseen */
  markSeen(seen: SeenRecord): Promise<LedgerDecisionAnswer> {
    return markSeen(this.context(), seen);
  }

  /** Clears the flags of a run that concern none of its inquiries. Returns whether any flag was cleared. */
  markRunSeen(seen: RunSeenBy): Promise<boolean> {
    return markRunSeen(this.context(), seen);
  }

  /** Takes an owner's unmatched consents off the work queue. Returns their number. */
  async markConsentsSeen(seen: { runKey: string; by: string; reason: string }): Promise<number> {
    const ledger = await this.#ledger.open();
    return ledger.consents.markSeen(ledger.identity.ledgerId, seen);
  }

  /**
   * The ledger that this client opens. The client closes it.
   *
   * @internal
   */
  openedLedger(): Promise<Ledger> {
    return this.#ledger.open();
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#ledger.close();
  }

  /** @internal */
  protected override context() {
    return { ...super.context(), ledger: () => this.#ledger.open() };
  }
}

/** A ledger that is opened once, by the first call that needs it. */
class LazyLedger {
  readonly #open: () => Promise<Ledger>;
  #ledger: Promise<Ledger> | undefined;

  constructor(open: () => Promise<Ledger>) {
    this.#open = open;
  }

  open(): Promise<Ledger> {
    this.#ledger ??= this.#open().catch((error) => {
      this.#ledger = undefined;
      throw error;
    });
    return this.#ledger;
  }

  async close(): Promise<void> {
    await (await this.#ledger?.catch(() => undefined))?.close();
  }
}
