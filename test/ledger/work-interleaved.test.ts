/**
 * Random interleavings of holds, decisions, resets, ends and late retries of writes: in the end the open rows are what
 * the runs wait for. Model runs follow the rules of `workflows/run/holds.ts`; the ledger is real.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { RunHold } from '../../src/ledger/holds/holds.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { attempted, claimOf, decisionOf, keyRing } from './fixtures.ts';
import { openWork } from './work-rows.ts';

const STEPS = ['hold', 'deliver', 'again', 'decide', 'claim', 'keep', 'reset', 'end'] as const;
type Step = { step: (typeof STEPS)[number]; run: number; which: number };

let directory: string;
let ledger: Ledger;
let runs = 0;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'credit-journey-work-'));
  const url = `file:${join(directory, 'ledger.db')}`;
  ledger = await openLedger({ url, environment: 'sandbox', keyRing: keyRing(), create: true });
});
after(async () => {
  await ledger?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A point of a run's history that a reset can return to. */
interface Kept {
  attempt: number;
  hold?: RunHold | undefined;
  hasEnded?: boolean;
}

/** A write of a row, which a timed-out activity may repeat. */
type Write = () => Promise<void>;

/** A model of a run whose credentials may be refused before each claim. */
class ModelRun {
  readonly number: string;
  readonly #runKey: string;
  #now: Kept = { attempt: 1 };
  #kept: Kept[] = [{ attempt: 1 }];
  /** The pending writes in their order; a reset discards them. */
  #writes: Write[] = [];
  readonly #written: Write[] = [];
  #decisions = 0;
  #mayLeaveRows = false;

  constructor(number: string) {
    this.number = number;
    this.#runKey = `J-${number}`;
  }

  get waitsFor(): string[] {
    return this.#now.hold ? [`${this.number} ${this.#now.hold.attempt}`] : [];
  }

  get #inquiry() {
    return claimOf(ledger, { inquiry: { customerTraceNumber: this.number, runKey: this.#runKey } }).inquiry;
  }

  hold(): void {
    if (this.#now.hasEnded || this.#now.hold) return;
    const { attempt } = this.#now;
    this.#now.hold = { inquiry: this.#inquiry, reason: 'CredentialsRefused', since: new Date().toISOString(), attempt };
    this.#open();
  }

  #open(): void {
    const hold = structuredClone(this.#now.hold as RunHold);
    this.#writes.push(() => ledger.tasks.openHold(ledger.identity.ledgerId, hold));
  }

  async deliver(): Promise<void> {
    for (let write = this.#writes.shift(); write; write = this.#writes.shift()) {
      await write();
      this.#written.push(write);
    }
  }

  async again(which: number): Promise<void> {
    await this.#written[which % Math.max(1, this.#written.length)]?.();
  }

  async decide(): Promise<void> {
    const { hold } = this.#now;
    if (!hold) return;
    await this.deliver();
    const decision = decisionOf({
      ...{ decisionId: `D-${this.#decisions++}`, customerTraceNumber: this.number, attempt: hold.attempt },
      ...{ failureType: 'CredentialsRefused' as const, providerSaid: 'notAsked' as const },
      decidedAt: new Date().toISOString(),
    });
    await ledger.recordDecision(ledger.identity.ledgerId, this.#inquiry, decision);
    this.#now.hold = undefined;
  }

  async claim(): Promise<void> {
    if (this.#now.hold || this.#now.hasEnded) return;
    const known = await ledger.inquiry(this.number);
    const attempt = (known?.attempts.at(-1)?.attempt ?? 0) + 1;
    const named = { inquiry: { customerTraceNumber: this.number, runKey: this.#runKey }, attempt };
    assert.equal((await attempted(ledger, named, { state: 'notSent' })).kind, 'claimed');
    this.#now.attempt = attempt + 1;
  }

  /** A reset returns to a workflow task, and an ended run has none after its end. */
  keep(): void {
    if (this.#now.hasEnded) return;
    this.#kept.push(structuredClone(this.#now));
  }

  /** Resets the run to an earlier point, without the decisions that it received since. */
  reset(which: number): void {
    const point = which % this.#kept.length;
    this.#now = structuredClone(this.#kept[point] as Kept);
    this.#kept = this.#kept.slice(0, point + 1);
    this.#writes = [];
    // Models `Holds.onReset`.
    this.#mayLeaveRows = true;
    if (!this.#now.hold) return;
    this.#now.hold = { ...this.#now.hold, since: new Date().toISOString() };
    this.#open();
  }

  /** Ends the run by a withdrawal or a cancellation, without a claim or a decision. */
  end(): void {
    if (this.#now.hasEnded) return;
    this.#mayLeaveRows ||= this.#now.hold !== undefined;
    this.#now.hold = undefined;
    this.#now.hasEnded = true;
    if (!this.#mayLeaveRows) return;
    const ended = { runKey: this.#runKey, until: new Date().toISOString() };
    this.#writes.push(() => ledger.tasks.close(ledger.identity.ledgerId, ended));
  }

  /** Ends a run that does not wait, and delivers all pending writes. */
  async settle(): Promise<void> {
    if (!this.#now.hold) this.end();
    await this.deliver();
  }
}

async function take(run: ModelRun, { step, which }: Step): Promise<void> {
  // Instants are whole milliseconds; the steps of a run take longer.
  await delay(2);
  if (step === 'again') await run.again(which);
  else if (step === 'reset') run.reset(which);
  else await run[step]();
}

test('after any interleaving of two runs, the open rows are exactly the holds that the runs wait for', async () => {
  const step = fc.record({ step: fc.constantFrom(...STEPS), run: fc.nat(1), which: fc.nat(9) });
  let held = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
      const both = [new ModelRun(`PQ-${runs++}`), new ModelRun(`PQ-${runs++}`)];
      for (const one of steps) await take(both[one.run] as ModelRun, one);
      for (const run of both) await run.settle();
      const waiting = both.flatMap(({ waitsFor }) => waitsFor);
      held += waiting.length;
      const own = new Set(both.map(({ number }) => number));
      const rows = (await openWork(ledger, {}, 100)).filter((row) => own.has(row.customerTraceNumber ?? ''));
      assert.deepEqual(rows.map((row) => `${row.customerTraceNumber} ${row.attempt}`).sort(), waiting.sort());
    }),
    { numRuns: 100 },
  );
  assert.ok(held > 10, 'many runs wait in the end');
});
