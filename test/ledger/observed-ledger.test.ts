/** A ledger with timing answers its callers exactly as the ledger itself does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError, LedgerUnavailableError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createObservedLedger, type LedgerOperation } from '../../src/ledger/observed-ledger.ts';

class StandIn {
  readonly identity = { ledgerId: 'ledger-1' };
  readonly #secret = 7;
  readonly tasks = { counts: async () => ({ open: 2 }) };
  digest(text: string): string {
    return `${text}${this.#secret}`;
  }
  async ping(): Promise<{ now: string }> {
    return { now: String(this.#secret) };
  }
  async lookUp(ledgerId: string): Promise<null> {
    throw ledgerId === 'down' ? new LedgerUnavailableError('down') : new LedgerChangedError('another');
  }
  async *pages(): AsyncGenerator<number> {
    yield this.#secret;
  }
}

test('an observed ledger reports each operation’s name, duration and result, and returns the answer unchanged', async () => {
  const told: [string, string][] = [];
  const observer = ({ operation, result, durationMs }: LedgerOperation) => {
    assert.ok(durationMs >= 0);
    told.push([operation, result]);
    throw new Error('broken');
  };
  const ledger = createObservedLedger(new StandIn() as unknown as Ledger, observer) as Ledger & StandIn;
  assert.equal(ledger.identity.ledgerId, 'ledger-1');
  assert.equal(ledger.digest('a'), 'a7');
  assert.deepEqual(await ledger.ping(), { now: '7' });
  assert.deepEqual(await (ledger as StandIn).tasks.counts(), { open: 2 });
  await assert.rejects(ledger.lookUp('down'), LedgerUnavailableError);
  await assert.rejects(ledger.lookUp('other'), LedgerChangedError);
  for await (const page of ledger.pages()) assert.equal(page, 7);
  assert.deepEqual(told, [
    ['ping', 'ok'],
    ['tasks.counts', 'ok'],
    ['lookUp', 'unavailable'],
    ['lookUp', 'failed'],
  ]);
});
