/** Part of the contract suite: the rows of what needs a person, from what opens them to what closes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import type { WorkKey, WorkToNote } from '../../src/ledger/holds/work.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { attempted, claimAs, decisionOf, INQUIRY, outcomeOf, RECORD, SHARE, TRACE } from './fixtures.ts';
import type { Open } from './ledger-backend.ts';
import { openWork } from './work-rows.ts';

const numbered = (customerTraceNumber: string, more = {}) => ({ inquiry: { customerTraceNumber, ...more } });

/** An instant of the run's clock, so many seconds from now. */
const at = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

function held(change: Partial<WorkToNote> = {}): WorkToNote {
  return {
    kind: 'held',
    reason: 'GatewayUnreachable',
    since: at(0),
    runKey: 'J-1',
    gatewayProfile: 'default',
    endUserCode: 'EU1',
    productCode: 'PREQUAL',
    customerTraceNumber: TRACE,
    attempt: 1,
    ...change,
  };
}

async function noted(ledger: Ledger, opened: WorkToNote[], asOf: string, ended: WorkKey[] = []): Promise<void> {
  await ledger.work.note(ledger.identity.ledgerId, { asOf, opened, ended });
}

async function reasonsOf(ledger: Ledger, filters = {}): Promise<string[]> {
  return (await openWork(ledger, filters)).map(({ reason, attempt = '' }) => `${reason} ${attempt}`.trim());
}

async function endsOf(ledger: Ledger, runKey = 'J-1'): Promise<string[]> {
  const rows = await ledger.work.of(runKey);
  return rows.map(({ reason, closed }) => [reason, closed?.how ?? 'open', closed?.by ?? ''].join(' ').trim());
}

export function workTests(opened: Open): void {
  openingTests(opened);
  noteTests(opened);
  resetTests(opened);
  readingTests(opened);
}

function openingTests(opened: Open): void {
  test('an outcome that needs a decision opens its row, and the decision closes it in its own transaction', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'refused', httpStatus: 400 });
    const [row, ...more] = await openWork(ledger);
    assert.deepEqual(more, []);
    const { workId, since, ...rest } = row ?? assert.fail();
    assert.match(workId, /^[0-9a-f-]{36}$/);
    assert.ok(Math.abs(Date.parse(since) - Date.now()) < 60_000);
    const { since: _, ...expected } = held({ reason: 'RequestRefused' });
    assert.deepEqual(rest, expected);
    const decision = decisionOf({ action: 'amend', failureType: 'RequestRefused', providerSaid: 'notAsked' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision);
    assert.deepEqual(await openWork(ledger), []);
    assert.deepEqual(await endsOf(ledger), ['RequestRefused decided D-1']);
  });

  test('a row stands while its run waits: also where an answer came after all, and until its decision is overtaken', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }));
    assert.deepEqual(await reasonsOf(ledger), ['OutcomeUnknown 1']);
    const verdict = await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ failureType: 'OutcomeUnknown' }));
    assert.equal(verdict.kind, 'overtaken');
    assert.deepEqual(await endsOf(ledger), ['OutcomeUnknown overtaken D-1']);
  });

  test('an attempt that was never answered counts from the end of its time, and is written once somebody meets it', async (t) => {
    const { ledger } = await opened(t);
    await claimAs(ledger, { answerWithinMs: 0 });
    const [row] = await openWork(ledger);
    assert.deepEqual([row?.reason, row?.attempt, row?.endUserCode], ['OutcomeUnknown', 1, 'EU1']);
    assert.deepEqual(await ledger.work.of('J-1'), [], 'nobody has written it yet');
    await claimAs(ledger, { attempt: 2 });
    assert.deepEqual(await reasonsOf(ledger), ['OutcomeUnknown 1']);
    assert.deepEqual(await endsOf(ledger), ['OutcomeUnknown open']);
  });

  test('a decision that judged nothing of the ledger leaves, or brings back, what the ledger needs', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    await noted(ledger, [held({ reason: 'RequestDiffers', since: at(1) })], at(1));
    assert.deepEqual(await reasonsOf(ledger), ['RequestDiffers 1'], 'an inquiry waits for one decision at a time');
    const differs = decisionOf({ action: 'amend', failureType: 'RequestDiffers', decidedAt: at(2) });
    await ledger.recordDecision(ledgerId, INQUIRY, differs);
    assert.deepEqual(await reasonsOf(ledger), ['OutcomeUnknown 1']);
    assert.deepEqual((await endsOf(ledger)).sort(), [
      'OutcomeUnknown open',
      'OutcomeUnknown replaced',
      'RequestDiffers decided D-1',
    ]);
  });

  test('a further claim closes what was held before it, and an abandoned inquiry holds nothing', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'notSent' });
    await noted(ledger, [held()], at(0));
    await claimAs(ledger, { attempt: 2 });
    assert.deepEqual(await endsOf(ledger), ['GatewayUnreachable claimed']);
    await ledger.recordOutcome(outcomeOf(ledger, { attempt: 2, state: 'unknown' }));
    const giveUp = decisionOf({ attempt: 2, action: 'abandon', failureType: 'OutcomeUnknown' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, giveUp);
    assert.deepEqual(await openWork(ledger), []);
  });

  test('late news is flagged, and closed by whoever has seen it', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ action: 'abandon' }));
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }));
    await noted(ledger, [held({ kind: 'flagged', reason: 'reportChanged' })], at(0));
    assert.deepEqual((await reasonsOf(ledger, { kind: 'flagged' })).sort(), ['lateAnswer', 'reportChanged 1']);
    const seen = { decisionId: 'D-9', customerTraceNumber: TRACE, by: 'ops', reason: 'the provider deletes it' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'recorded' });
    assert.deepEqual(await openWork(ledger), []);
    assert.deepEqual((await endsOf(ledger)).slice(1).sort(), ['lateAnswer seen D-9', 'reportChanged seen D-9']);
  });
}

function noteTests(opened: Open): void {
  test('a note may be repeated, and of two the later one counts, whichever comes first', async (t) => {
    const { ledger } = await opened(t);
    const work = held();
    const key: WorkKey = work;
    const [first, second, third] = [at(0), at(1), at(2)];
    await noted(ledger, [work], first);
    await noted(ledger, [work], first);
    assert.deepEqual(await reasonsOf(ledger), ['GatewayUnreachable 1']);
    await noted(ledger, [], second, [key]);
    await noted(ledger, [work], first);
    assert.deepEqual(await endsOf(ledger), ['GatewayUnreachable ended'], 'the first came once more, too late');
    await noted(ledger, [{ ...work, since: third }], third);
    await noted(ledger, [], second, [key]);
    assert.deepEqual(await reasonsOf(ledger), ['GatewayUnreachable 1'], 'the second came once more, too late');
  });

  test('a hold that comes late, after its decision or a later attempt, is not opened; one that began since is', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    const early = held({ reason: 'CredentialsRefused', since: at(0) });
    const goOn = decisionOf({ failureType: 'CredentialsRefused', providerSaid: 'notAsked', decidedAt: at(1) });
    await ledger.recordDecision(ledgerId, INQUIRY, goOn);
    await noted(ledger, [early], at(0));
    assert.deepEqual(await openWork(ledger), []);
    await noted(ledger, [{ ...early, since: at(2) }], at(2));
    assert.deepEqual(await reasonsOf(ledger), ['CredentialsRefused 1']);

    const other = { customerTraceNumber: 'PQ-OTHER' };
    await attempted(ledger, { inquiry: other }, { state: 'notSent' });
    await claimAs(ledger, { inquiry: other, attempt: 2 });
    await noted(ledger, [held({ ...other, since: at(-60) })], at(-60));
    assert.deepEqual(await reasonsOf(ledger), ['CredentialsRefused 1'], 'the ledger is an attempt further');
  });

  test('a run that was reset holds again, and the decision that it takes again closes its row', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    const goOn = decisionOf({ failureType: 'CredentialsRefused', providerSaid: 'notAsked', decidedAt: at(1) });
    await noted(ledger, [held({ reason: 'CredentialsRefused' })], at(0));
    await ledger.recordDecision(ledgerId, INQUIRY, goOn);
    await noted(ledger, [held({ reason: 'CredentialsRefused', since: at(5) })], at(5));
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, goOn), { kind: 'recorded' });
    assert.deepEqual(await endsOf(ledger), ['CredentialsRefused decided D-1', 'CredentialsRefused decided D-1']);
  });

  test('a note into another ledger is refused, and a disposal closes what a lost run has left', async (t) => {
    const { ledger } = await opened(t);
    const note = { asOf: at(0), opened: [held()], ended: [] };
    await assert.rejects(ledger.work.note('ledger-x', note), LedgerChangedError);
    await attempted(ledger, {}, { state: 'notSent' });
    await ledger.work.note(ledger.identity.ledgerId, note);
    const who = { by: 'records', reason: 'past its time' };
    await ledger.retention.begin({ runKey: 'J-1' }, who);
    assert.equal((await ledger.retention.dispose({ runKey: 'J-1' }, who, 0)).kind, 'done');
    assert.deepEqual(await endsOf(ledger), ['GatewayUnreachable disposed']);
  });
}

function resetTests(opened: Open): void {
  test('a note after a reset says all that the run needs: what it said before is over, and may not come again', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    const [first, second] = [held(), held({ customerTraceNumber: 'PQ-OTHER', reason: 'CredentialsRefused' })];
    const flag = held({ kind: 'flagged', reason: 'ssnMismatch' });
    await noted(ledger, [first, second, flag], at(0));
    await attempted(ledger, { inquiry: { customerTraceNumber: 'PQ-LEDGER' } }, { state: 'refused' });
    await ledger.work.note(ledgerId, { asOf: at(5), opened: [{ ...first, since: at(5) }], ended: [], resetOf: 'J-1' });
    const open = ['GatewayUnreachable 1', 'RequestRefused 1', 'ssnMismatch 1'];
    assert.deepEqual((await reasonsOf(ledger)).sort(), open, 'the ledger’s own row and the lasting flag stay');
    await noted(ledger, [held({ customerTraceNumber: 'PQ-LATE' })], at(4));
    assert.deepEqual((await reasonsOf(ledger)).sort(), open, 'a note from before the reset came late');
    await ledger.work.note(ledgerId, { asOf: at(9), opened: [], ended: [], isLast: true, resetOf: 'J-1' });
    assert.deepEqual(await reasonsOf(ledger), ['ssnMismatch 1'], 'it ended without coming to the refused one again');
  });

  test('a reset into a hold that was decided since opens its row again', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ failureType: 'OutcomeUnknown', decidedAt: at(1) }));
    await claimAs(ledger, { attempt: 2 });
    assert.deepEqual(await openWork(ledger), []);
    const again = held({ reason: 'OutcomeUnknown', since: at(5) });
    await ledger.work.note(ledgerId, { asOf: at(5), opened: [again], ended: [], resetOf: 'J-1' });
    assert.deepEqual(await reasonsOf(ledger), ['OutcomeUnknown 1']);
    const other = decisionOf({ decisionId: 'D-2', failureType: 'OutcomeUnknown', decidedAt: at(6) });
    assert.equal((await ledger.recordDecision(ledgerId, INQUIRY, other)).kind, 'overtaken');
    assert.deepEqual(await openWork(ledger), []);
  });

  test('a run that begins under the id of another ends what that one waited for by its own word', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, { inquiry: { customerTraceNumber: 'PQ-LEDGER' } }, { state: 'unknown' });
    await noted(ledger, [held(), held({ kind: 'flagged', reason: 'reportChanged' })], at(0));
    await ledger.work.takeOver(ledgerId, { runKey: 'J-1', before: at(-9) });
    assert.equal((await openWork(ledger)).length, 3, 'that was noted since the run began');
    await ledger.work.takeOver(ledgerId, { runKey: 'J-1', before: at(9) });
    assert.deepEqual((await reasonsOf(ledger)).sort(), ['OutcomeUnknown 1', 'reportChanged 1']);
    await ledger.work.takeOver(ledgerId, { runKey: 'J-2', before: at(9) });
  });

  test('a lasting flag stands until a person has seen it, and is not opened again', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    const flag = held({ kind: 'flagged', reason: 'ssnMismatch' });
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    await noted(ledger, [flag], at(0));
    const seen = { decisionId: 'D-9', customerTraceNumber: TRACE, by: 'ops', reason: 'it is the same person' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'recorded' });
    await noted(ledger, [flag], at(5));
    assert.deepEqual(await endsOf(ledger), ['ssnMismatch seen D-9']);

    const review = 'portfolio:R-1';
    const { customerTraceNumber: _, attempt: __, ...ofRun } = held({ kind: 'flagged', runKey: review });
    await noted(
      ledger,
      [
        { ...ofRun, reason: 'ssnMismatch' },
        { ...ofRun, reason: 'PortfolioUnavailable' },
      ],
      at(0),
    );
    const who = { runKey: review, by: 'ops', reason: 'the file names them', decidedAt: at(1) };
    const other = { ...who, decisionId: 'D-0', flag: 'reportChanged' } as const;
    assert.equal(await ledger.work.markSeen(ledgerId, other), false, 'it was flagged for another reason');
    assert.equal(await ledger.work.markSeen(ledgerId, { ...who, decisionId: 'D-1', flag: 'ssnMismatch' }), true);
    assert.deepEqual(await reasonsOf(ledger), ['PortfolioUnavailable'], 'its run waits for that');
    assert.equal(await ledger.work.markSeen(ledgerId, { ...who, decisionId: 'D-2' }), false);
    assert.equal(await ledger.work.markSeen(ledgerId, { ...who, decisionId: 'D-3', runIsGone: true }), true);
    assert.deepEqual(await openWork(ledger), []);
  });

  test('of a run that is gone, a row about what was answered after all is marked as seen; an open question is not', async (t) => {
    const { ledger } = await opened(t);
    const { ledgerId } = ledger.identity;
    await attempted(ledger, {}, { state: 'unknown' });
    const seen = {
      decisionId: 'D-9',
      customerTraceNumber: TRACE,
      by: 'ops',
      reason: 'nothing is left',
      runIsGone: true as const,
    };
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'nothingToSee' });
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }));
    const { runIsGone: _, ...whileItRuns } = seen;
    assert.deepEqual(await ledger.recordSeen(ledgerId, whileItRuns), { kind: 'nothingToSee' });
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'recorded' });
    assert.deepEqual(await openWork(ledger), []);
  });
}

function readingTests(opened: Open): void {
  test('open rows are read in pages, the oldest first, by any filter, and counted by reason', async (t) => {
    const { ledger } = await opened(t);
    const review = 'portfolio:R-1';
    await noted(
      ledger,
      [
        held({ since: at(-50), customerTraceNumber: 'A', runKey: `${review}/row-1`, productCode: 'ACCTRVW' }),
        held({ since: at(-40), customerTraceNumber: 'B', endUserCode: 'EU2', reason: 'InvalidInput' }),
        held({ since: at(-30), customerTraceNumber: 'C', gatewayProfile: 'east' }),
        { kind: 'flagged', reason: 'PortfolioUnavailable', since: at(-20), runKey: review, gatewayProfile: 'default' },
      ],
      at(0),
    );
    await attempted(ledger, { inquiry: { ...SHARE, customerTraceNumber: 'D' } }, { state: 'unknown' });
    await claimAs(ledger, { ...numbered('E', { profile: 'east' }), answerWithinMs: 0 });
    const names = async (filters = {}, limit = 2) =>
      (await openWork(ledger, filters, limit)).map((row) => row.customerTraceNumber ?? row.reason).join(' ');
    for (const limit of [1, 2, 100]) assert.equal(await names({}, limit), 'A B C PortfolioUnavailable D E');
    assert.equal(await names({ reason: 'GatewayUnreachable' }), 'A C');
    assert.equal(await names({ kind: 'flagged' }), 'PortfolioUnavailable');
    assert.equal(await names({ gatewayProfile: 'east' }), 'C E');
    assert.equal(await names({ endUserCode: 'EU2' }), 'B D');
    assert.equal(await names({ runKey: review }), 'A PortfolioUnavailable');
    assert.equal(await names({ runKey: 'J-1', reason: 'OutcomeUnknown' }), 'D E');
    assert.deepEqual(
      (await ledger.work.counts()).map(({ kind, reason, count }) => `${kind} ${reason} ${count}`),
      ['held GatewayUnreachable 2', 'held OutcomeUnknown 2', 'held InvalidInput 1', 'flagged PortfolioUnavailable 1'],
    );
    const [east] = await ledger.work.counts({ gatewayProfile: 'east', reason: 'GatewayUnreachable' });
    assert.deepEqual([east?.count, (east?.oldest ?? '') < at(-25)], [1, true]);
    await assert.rejects(ledger.work.open({ limit: 0 }), RangeError);
    for (const after of ['', 'now', '.x', '1e999.x']) {
      await assert.rejects(ledger.work.open({ limit: 1, after }), RangeError, after);
    }
  });
}
