/** Consents that the run cannot judge yet: a proof is being checked, or the profile's trust is not known. */
import { CancellationScope } from '@temporalio/workflow';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { ProofRefusal, ProofVerdict } from '../../protection/proofs.ts';
import { untilDone } from '../run/activity-stubs.ts';

/** What became of a grant. */
export type GrantOutcome = { counts: true; duplicate: boolean } | { counts: false; reason: string };

/** Bounds the checks in one run: each costs the history a few events, also where the consent is refused. */
const MAX_CHECKS = 1_000;

interface OpenGrant {
  text: string;
  promise: Promise<GrantOutcome>;
  resolve(outcome: GrantOutcome): void;
}

export class ConsentChecks {
  readonly #open = new Map<ConsentRecord, OpenGrant>();
  /** The same by what they say. */
  readonly #byText = new Map<string, OpenGrant>();
  #made = 0;
  #running = 0;

  /** Whether a consent still waits for its verdict: the run may not end then. */
  get isBusy(): boolean {
    return this.#open.size > 0 || this.#running > 0;
  }

  get areSpent(): boolean {
    return this.#made >= MAX_CHECKS;
  }

  open(record: ConsentRecord): Promise<GrantOutcome> {
    const { promise, resolve } = Promise.withResolvers<GrantOutcome>();
    const grant = { text: textOf(record), promise, resolve };
    this.#open.set(record, grant);
    this.#byText.set(grant.text, grant);
    return promise;
  }

  isOpen(record: ConsentRecord): boolean {
    return this.#open.has(record);
  }

  /** The coming verdict of an identical message (also in its proof) that is still being checked. */
  sameAs(record: ConsentRecord): Promise<GrantOutcome> | undefined {
    return this.#byText.size === 0 ? undefined : this.#byText.get(textOf(record))?.promise;
  }

  /** Whether it was open. */
  settle(record: ConsentRecord, outcome: GrantOutcome): boolean {
    const grant = this.#open.get(record);
    this.#open.delete(record);
    if (grant) this.#byText.delete(grant.text);
    grant?.resolve(outcome);
    return grant !== undefined;
  }

  /** Not cancellable: the run judges and records every consent before it ends. */
  async verdictOn({ receivedAt, ...consent }: ConsentRecord): Promise<ProofVerdict> {
    this.#made++;
    this.#running++;
    const summary = `checking the proof of a consent to share ${consent.shareId}`;
    try {
      return await CancellationScope.nonCancellable(() =>
        untilDone('checkConsentProof', { summary }, { consent, receivedAt }),
      );
    } finally {
      this.#running--;
    }
  }
}

export function proofRefused(reason: ProofRefusal): string {
  return `the proof is refused: ${reason}`;
}

function textOf({ receivedAt: _, ...message }: ConsentRecord): string {
  return JSON.stringify(message);
}
