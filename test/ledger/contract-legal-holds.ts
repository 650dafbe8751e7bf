/** Part of the contract suite: a legal hold stops a disposal at any of its steps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { DisposalVerdict, LegalHold, Obstacle } from '../../src/ledger/retention/retention.ts';
import type { ProductCode } from '../../src/model/products.ts';
import { retentionEvents } from '../support/retention-events.ts';
import { claimAs, claimOf, NO_RECORD, outcomeOf, RECORD, readSealedReport, SHARE } from './fixtures.ts';
import type { Open } from './ledger-backend.ts';

const AUTHORIZATION = { by: 'ops@example.com', reason: 'kept for 25 months' };
const ONE = { by: 'counsel-1', reason: 'asked for by the court', matter: '2026-17' };
const OTHER = { by: 'counsel-2', reason: 'a complaint', matter: '2026-18' };
const JOURNEY = 'J-1';
const REVIEW = 'portfolio:R-1';
const RUN = { workflowId: 'journey-J-1', runId: 'run-1' };

async function answered(ledger: Ledger, runKey: string, customerTraceNumber: string, answer = RECORD): Promise<void> {
  const productCode: ProductCode = runKey.startsWith('portfolio:') ? 'ACCTRVW' : 'PREQUAL';
  const claim = claimOf(ledger, { inquiry: { runKey, customerTraceNumber, productCode } });
  assert.equal((await ledger.claim(claim)).kind, 'claimed');
  const record = outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer, httpStatus: 200 });
  await ledger.recordOutcome(record, '{"report":1}');
}

const traceOf = (letter: string) => `AR${letter.repeat(24)}00`;

function held(obstacles: readonly Obstacle[]): string[] {
  return obstacles.flatMap((one) => (one.reason === 'legalHold' ? [nameOf(one.hold)] : [one.reason]));
}

function nameOf({ runKey, matter }: LegalHold): string {
  return `${runKey} ${matter}`;
}

/** Returns the names of the holds that refuse the disposal, or `done`. */
function refusal(verdict: DisposalVerdict): string[] | 'done' {
  return verdict.kind === 'refused' ? held(verdict.obstacles) : 'done';
}

export function legalHoldTests(opened: Open): void {
  test('a legal hold is set once for each matter, and each answer names the other holds', async (t) => {
    const { ledger } = await opened(t);
    const { retention } = ledger;
    await answered(ledger, 'J-1', traceOf('A'));
    const first = await retention.setLegalHold('J-1', ONE);
    assert.deepEqual([first?.duplicate, first?.by, first?.others], [false, ONE.by, []]);
    const second = await retention.setLegalHold('J-1', OTHER);
    assert.deepEqual([second?.duplicate, second?.by, second?.others.map(nameOf)], [false, OTHER.by, ['J-1 2026-17']]);
    const again = await retention.setLegalHold('J-1', { ...OTHER, matter: ONE.matter });
    assert.deepEqual(
      [again?.duplicate, again?.paths, again?.by, again?.setAt],
      [true, ['/by', '/reason'], ONE.by, first?.setAt],
    );
    assert.deepEqual((await retention.setLegalHold('J-1', ONE))?.paths, []);
    assert.deepEqual(again?.others.map(nameOf), ['J-1 2026-18']);
    assert.deepEqual((await retention.legalHolds()).map(nameOf), ['J-1 2026-17', 'J-1 2026-18']);

    const unknown = await retention.releaseLegalHold('J-1', { ...ONE, matter: 'another' });
    assert.deepEqual([unknown.duplicate, unknown.released, unknown.others.length], [false, undefined, 2]);
    const release = await retention.releaseLegalHold('J-1', ONE);
    const { released, others } = release;
    assert.deepEqual([released && nameOf(released), others.map(nameOf)], ['J-1 2026-17', ['J-1 2026-18']]);
    assert.deepEqual(await retention.releaseLegalHold('J-1', ONE), { ...release, duplicate: true });
    assert.deepEqual((await retention.releaseLegalHold('J-1', { ...ONE, reason: 'another' })).paths, ['/reason']);
    const events = (await retentionEvents(ledger, 'J-1')).map(({ kind, matter, by }) => [kind, matter, by]);
    assert.deepEqual(events, [
      ['legalHoldSet', '2026-17', 'counsel-1'],
      ['legalHoldSet', '2026-18', 'counsel-2'],
      ['legalHoldReleased', '2026-17', 'counsel-1'],
    ]);
    // The other matter still forbids a disposal.
    assert.deepEqual(refusal(await retention.begin(JOURNEY, AUTHORIZATION)), ['J-1 2026-18']);
    // A released matter may be set again.
    assert.equal((await retention.setLegalHold('J-1', ONE))?.duplicate, false);
    assert.equal((await retention.legalHolds()).length, 2);
  });

  test('a legal hold on a review covers each row, whether the row was added before or after the hold', async (t) => {
    const { ledger } = await opened(t);
    const { retention } = ledger;
    const [early, later] = [`${REVIEW}/A-1`, `${REVIEW}/A-2`];
    await answered(ledger, early, traceOf('A'));
    await retention.setLegalHold(REVIEW, ONE);
    await answered(ledger, later, traceOf('B'));
    await answered(ledger, `${REVIEW}0/A-1`, traceOf('C'));
    for (const runKey of [later, early, REVIEW]) {
      const begun = await retention.begin(runKey, AUTHORIZATION);
      assert.equal(begun.kind, 'refused', runKey);
      assert.deepEqual(refusal(begun), [`${REVIEW} 2026-17`]);
      assert.deepEqual((await retention.legalHolds(runKey)).map(nameOf), [`${REVIEW} 2026-17`]);
    }
    assert.equal((await retention.begin(`${REVIEW}0/A-1`, AUTHORIZATION)).kind, 'done');
    const byRow = [];
    for await (const one of ledger.inquiriesBetween()) byRow.push([one.runKey, one.legalHolds.map(nameOf)]);
    assert.deepEqual(byRow, [
      [early, [`${REVIEW} 2026-17`]],
      [later, [`${REVIEW} 2026-17`]],
      [`${REVIEW}0/A-1`, []],
    ]);
    await retention.releaseLegalHold(REVIEW, ONE);
    assert.equal((await retention.begin(later, AUTHORIZATION)).kind, 'done');
  });

  test('legal holds on a review and on its row each stay in force when the other is released', async (t) => {
    const { ledger } = await opened(t);
    const { retention } = ledger;
    const row = `${REVIEW}/A-1`;
    await answered(ledger, row, traceOf('A'));
    for (const [released, left] of [
      [row, REVIEW],
      [REVIEW, row],
    ] as const) {
      await retention.setLegalHold(REVIEW, ONE);
      await retention.setLegalHold(row, ONE);
      await retention.releaseLegalHold(released, ONE);
      const begun = await retention.begin(row, AUTHORIZATION);
      assert.equal(begun.kind, 'refused', released);
      assert.deepEqual(refusal(begun), [`${left} 2026-17`]);
      await retention.releaseLegalHold(left, ONE);
    }
    assert.equal((await retention.begin(row, AUTHORIZATION)).kind, 'done');
  });

  test('a legal hold on one row prevents disposal of the whole review and of the histories that the rows share', async (t) => {
    const { ledger } = await opened(t);
    const { retention } = ledger;
    const [kept, free] = [`${REVIEW}/A-1`, `${REVIEW}/A-2`];
    await answered(ledger, kept, traceOf('A'));
    await answered(ledger, free, traceOf('B'));
    await retention.setLegalHold(kept, ONE);
    assert.deepEqual(refusal(await retention.begin(REVIEW, AUTHORIZATION)), [`${kept} 2026-17`]);
    const { obstacles, holdsOnOtherRows } = await retention.view(free);
    assert.deepEqual([obstacles, holdsOnOtherRows.map(nameOf)], [[], [`${kept} 2026-17`]]);
    // The row's own part of the ledger may be disposed of once Temporal has no history of it.
    assert.equal((await retention.begin(free, AUTHORIZATION)).kind, 'done');
    assert.deepEqual(held(await retention.recordDeletion(free, AUTHORIZATION, RUN)), [`${kept} 2026-17`]);
    assert.equal((await retention.dispose(free, AUTHORIZATION, 0)).kind, 'done');
    assert.equal((await retention.view(kept)).reports, 1);
  });

  test('a legal hold that is set between two steps of a disposal stops the next step, and says what was destroyed', async (t) => {
    const { ledger } = await opened(t);
    const { retention } = ledger;
    await answered(ledger, 'J-1', traceOf('A'));
    await assert.rejects(retention.recordDeletion(JOURNEY, AUTHORIZATION, RUN), /not begun/);
    assert.equal((await retention.begin(JOURNEY, AUTHORIZATION)).kind, 'done');
    const whole = await retention.setLegalHold('J-1', ONE);
    assert.deepEqual(whole?.destroyed, { inquiries: 0, histories: 0 });
    assert.deepEqual(held(await retention.recordDeletion(JOURNEY, AUTHORIZATION, RUN)), ['J-1 2026-17']);
    assert.equal((await retention.view(JOURNEY)).histories, 0);
    await retention.releaseLegalHold('J-1', ONE);

    assert.deepEqual(await retention.recordDeletion(JOURNEY, AUTHORIZATION, RUN), []);
    // The step is repeated, as after a crash.
    assert.deepEqual(await retention.recordDeletion(JOURNEY, AUTHORIZATION, RUN), []);
    const late = await retention.setLegalHold('J-1', OTHER);
    assert.deepEqual(late?.destroyed, { inquiries: 0, histories: 1 });
    const next = { ...RUN, runId: 'run-2' };
    assert.deepEqual(held(await retention.recordDeletion(JOURNEY, AUTHORIZATION, next)), ['J-1 2026-18']);
    assert.deepEqual(refusal(await retention.dispose(JOURNEY, AUTHORIZATION, 1)), ['J-1 2026-18']);
    const { reports, histories, begunAt } = await retention.view(JOURNEY);
    assert.deepEqual([reports, histories, begunAt !== undefined], [1, 1, true]);
    assert.equal((await readSealedReport(ledger, 'J-1', 'PREQUAL'))?.body, '{"report":1}');
    await retention.releaseLegalHold('J-1', OTHER);
    assert.equal((await retention.dispose(JOURNEY, AUTHORIZATION, 1)).kind, 'done');
    const runs = (await retentionEvents(ledger, 'J-1')).flatMap(({ run }) => run ?? []);
    assert.deepEqual(runs, [RUN, RUN]);
  });

  test('of a concurrent disposal and legal hold, either the disposal is complete or the hold finds everything', async (t) => {
    const { ledger, again } = await opened(t);
    const other = await again();
    const outcomes = new Set<string>();
    for (const round of Array(12).keys()) {
      const [runKey, letter] = [`J-${round}`, String.fromCharCode(65 + round)];
      await answered(ledger, runKey, traceOf(letter));
      await ledger.retention.begin(runKey, AUTHORIZATION);
      const disposing = () => ledger.retention.dispose(runKey, AUTHORIZATION, 0);
      const setting = () => other.retention.setLegalHold(runKey, ONE);
      // Both orders are tried, since one handle may always be faster.
      const [disposed, hold] =
        round % 2 === 0
          ? await Promise.all([disposing(), setting()])
          : await Promise.all([setting(), disposing()]).then(([set, done]) => [done, set] as const);
      outcomes.add(disposed.kind);
      const { reports, inquiries } = await ledger.retention.view(runKey);
      if (disposed.kind === 'done') assert.deepEqual([hold, reports, inquiries], [null, 0, 0]);
      else
        assert.deepEqual(
          [hold?.duplicate, reports, inquiries, held(disposed.obstacles)],
          [false, 1, 1, [`${runKey} 2026-17`]],
        );
    }
    assert.ok(outcomes.size > 0);
  });

  test('the claim of a share respects a legal hold, also one on a review that is older than the row', async (t) => {
    const { ledger } = await opened(t);
    const { retention } = ledger;
    await answered(ledger, `${REVIEW}/A-1`, traceOf('A'), NO_RECORD);
    await retention.setLegalHold(REVIEW, ONE);
    await answered(ledger, `${REVIEW}/A-2`, traceOf('B'));
    const reportIsGone = async () =>
      (await ledger.shareFacts({ runKey: 'share:S-1', shareId: 'S-1', reportReferenceNumber: 'REF-1' })).reportIsGone;
    const claim = async (shareId: string, customerTraceNumber: string) => {
      const inquiry = { ...SHARE, runKey: `share:${shareId}`, shareId, customerTraceNumber };
      const verdict = await claimAs(ledger, { inquiry, sharedReference: 'REF-1' });
      return verdict.kind === 'notPermitted' ? verdict.share?.reportIsGone : verdict.kind;
    };
    assert.deepEqual([await reportIsGone(), await claim('S-1', 'SUAAAAAAAAAAAAAAAAAAAAAAAA00')], [true, true]);
    await retention.setLegalHold(`${REVIEW}/A-2`, OTHER);
    await retention.releaseLegalHold(REVIEW, ONE);
    assert.equal(await reportIsGone(), true);
    await retention.releaseLegalHold(`${REVIEW}/A-2`, OTHER);
    assert.equal(await reportIsGone(), false);
  });
}
