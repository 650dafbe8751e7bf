/**
 * Whatever comes between a hold, its note, its decision, a reset and a hand-over: in the end the open rows are what the
 * runs wait for. Runs keep to the rules of `workflows/run/noted-work.ts`; the ledger is real.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { WorkNote, WorkToNote } from '../../src/ledger/holds/work.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { attempted, claimOf, decisionOf, keyRing } from './fixtures.ts';
import { openWork } from './work-rows.ts';

const STEPS = ['hold', 'send', 'deliver', 'again', 'decide', 'claim', 'keep', 'reset', 'handOver', 'end'] as const;
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

/** What a run's history has: a reset goes back to it. */
interface Kept {
  attempt: number;
  hold?: WorkToNote | undefined;
  told?: { since: string; isUnsure: boolean } | undefined;
  hasEnded?: boolean;
}

/** A run that meets refused credentials before its claims, or goes on. */
class ModelRun {
  readonly number: string;
  readonly #owner: string;
  #now: Kept = { attempt: 1 };
  #kept: Kept[] = [{ attempt: 1 }];
  #inFlight: WorkNote | undefined;
  readonly #sent: WorkNote[] = [];
  #decisions = 0;
  #isReset = false;
  #tellsReset = false;

  constructor(number: string) {
    this.number = number;
    this.#owner = `J-${number}`;
  }

  get waitsFor(): string[] {
    return this.#now.hold ? [`${this.number} ${this.#now.hold.attempt}`] : [];
  }

  get #inquiry() {
    return claimOf(ledger, { inquiry: { customerTraceNumber: this.number, runKey: this.#owner } }).inquiry;
  }

  hold(): void {
    if (this.#now.hasEnded) return;
    const { attempt } = this.#now;
    const named = { runKey: this.#owner, gatewayProfile: 'default', customerTraceNumber: this.number, attempt };
    const inquiry = this.#inquiry;
    const since = new Date().toISOString();
    this.#now.hold ??= { kind: 'held', reason: 'CredentialsRefused', since, productCode: 'PREQUAL', inquiry, ...named };
  }

  /** Schedules a note of what has changed, unless one is on its way. */
  send(): boolean {
    const { hold, told } = this.#now;
    const isNews = hold && (!told || told.isUnsure || told.since !== hold.since);
    if (this.#inFlight || !(isNews || (!hold && told) || this.#tellsReset)) return false;
    const key = { kind: 'held' as const, reason: 'CredentialsRefused' as const, runKey: this.#owner };
    const ended = hold ? [] : [{ ...key, customerTraceNumber: this.number }];
    const how = {
      ...(this.#now.hasEnded ? { isLast: true as const } : {}),
      ...(this.#tellsReset ? { resetOf: this.#owner } : {}),
    };
    this.#tellsReset = false;
    this.#inFlight = { asOf: new Date().toISOString(), opened: hold ? [hold] : [], ended, ...how };
    if (hold) this.#now.told = { since: hold.since, isUnsure: true };
    this.#sent.push(this.#inFlight);
    return true;
  }

  async deliver(): Promise<void> {
    const note = this.#inFlight;
    if (!note) return;
    await ledger.work.note(ledger.identity.ledgerId, note);
    const [opened] = note.opened;
    this.#now.told = opened && { since: opened.since, isUnsure: false };
    this.#inFlight = undefined;
  }

  /** An activity that was given up writes all the same. */
  async again(which: number): Promise<void> {
    const note = this.#sent[which % Math.max(1, this.#sent.length)];
    if (note) await ledger.work.note(ledger.identity.ledgerId, note);
  }

  async decide(): Promise<void> {
    const { hold, told } = this.#now;
    if (!hold) return;
    const isNoted = told !== undefined && !told.isUnsure;
    const decision = decisionOf({
      ...{ decisionId: `D-${this.#decisions++}`, customerTraceNumber: this.number, attempt: hold.attempt ?? 0 },
      ...{ failureType: 'CredentialsRefused' as const, providerSaid: 'notAsked' as const },
      decidedAt: new Date().toISOString(),
    });
    await ledger.recordDecision(ledger.identity.ledgerId, this.#inquiry, decision);
    this.#now.hold = undefined;
    if (isNoted) this.#now.told = undefined;
  }

  async claim(): Promise<void> {
    if (this.#now.hold || this.#now.hasEnded) return;
    const known = await ledger.inquiry(this.number);
    const attempt = (known?.attempts.at(-1)?.attempt ?? 0) + 1;
    const named = { inquiry: { customerTraceNumber: this.number, runKey: this.#owner }, attempt };
    assert.equal((await attempted(ledger, named, { state: 'notSent' })).kind, 'claimed');
    this.#now.attempt = attempt + 1;
  }

  keep(): void {
    this.#kept.push(structuredClone(this.#now));
  }

  /** Temporal repeats the run from an earlier point, and takes no decision of before again. */
  reset(which: number): void {
    const point = which % this.#kept.length;
    this.#now = structuredClone(this.#kept[point] as Kept);
    this.#kept = this.#kept.slice(0, point + 1);
    this.#inFlight = undefined;
    // As `Run.startAnew`.
    if (this.#now.hold) this.#now.hold.since = new Date().toISOString();
    this.#now.told = undefined;
    this.#isReset = true;
    this.#tellsReset = true;
  }

  /** The next run does not learn whether the note on its way has arrived. */
  handOver(): void {
    this.#inFlight = undefined;
  }

  /** Withdrawn, or cancelled: without a claim, and without a decision. */
  end(): void {
    this.#now.hold = undefined;
    this.#now.hasEnded = true;
    this.#tellsReset ||= this.#isReset;
  }

  /** A run that does not wait goes on, and one that waits has said so in the end. */
  async settle(): Promise<void> {
    await this.deliver();
    while (this.send()) await this.deliver();
  }
}

async function take(run: ModelRun, { step, which }: Step): Promise<void> {
  // Instants are whole milliseconds; the steps of a run take longer.
  await delay(2);
  if (step === 'again') await run.again(which);
  else if (step === 'reset') run.reset(which);
  else await run[step]();
}

test('the open rows are what the runs wait for', async () => {
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
