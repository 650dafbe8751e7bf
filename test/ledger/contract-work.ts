/** Part of the contract suite: the rows of operator tasks, and what opens and closes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LedgerChangedError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { attempted, claimAs, decisionOf, INQUIRY, outcomeOf, RECORD, SHARE, TRACE } from './fixtures.ts';
import type { Open } from './ledger-backend.ts';
import { openHolds, openWork } from './work-rows.ts';

const numbered = (customerTraceNumber: string, more = {}) => ({ inquiry: { customerTraceNumber, ...more } });

/** Returns an instant of the run's clock, the given number of seconds from now. */
const at = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

async function reasonsOf(ledger: Ledger, filters = {}): Promise<string[]> {
  return (await openWork(ledger, filters)).map(({ reason, attempt = '' }) => `${reason} ${attempt}`.trim());
}

async function endsOf(ledger: Ledger, runKey = 'J-1'): Promise<string[]> {
  const rows = await ledger.tasks.of(runKey);
  return rows.map(({ reason, closedHow = 'open', closedBy = '' }) => [reason, closedHow, closedBy].join(' ').trim());
}

export function workTests(opened: Open): void {
  openingTests(opened);
  runHoldTests(opened);
  endTests(opened);
  flagTests(opened);
  readingTests(opened);
}

function openingTests(opened: Open): void {
  test('an outcome that needs a decision opens a row, and recording the decision closes it in the same transaction', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'refused', httpStatus: 400 });
    const [row, ...more] = await openWork(ledger);
    assert.deepEqual(more, []);
    const { workId, since, ...rest } = row ?? assert.fail();
    assert.match(workId, /^[0-9a-f-]{36}$/);
    assert.ok(Math.abs(Date.parse(since) - Date.now()) < 60_000);
    assert.deepEqual(rest, {
      ...{ kind: 'held', reason: 'RequestRefused', runKey: 'J-1', profile: 'default', endUserCode: 'EU1' },
      ...{ productCode: 'PREQUAL', customerTraceNumber: TRACE, attempt: 1 },
    });
    const decision = decisionOf({ action: 'amend', failureType: 'RequestRefused', providerSaid: 'notAsked' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decision);
    assert.deepEqual(await openWork(ledger), []);
    assert.deepEqual(await endsOf(ledger), ['RequestRefused decided D-1']);
  });

  test('a row stays open while its run waits, even after a late answer, until a decision about it is overtaken', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }));
    assert.deepEqual(await reasonsOf(ledger), ['OutcomeUnknown 1']);
    const verdict = await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ failureType: 'OutcomeUnknown' }));
    assert.equal(verdict.kind, 'overtaken');
    assert.deepEqual(await endsOf(ledger), ['OutcomeUnknown overtaken D-1']);
  });

  test('an unanswered attempt counts as open once it is overdue, and the next claim writes its row', async (t) => {
    const { ledger } = await opened(t);
    await claimAs(ledger, { answerWithinMs: 0 });
    const [row] = await openWork(ledger);
    assert.deepEqual([row?.reason, row?.attempt, row?.endUserCode], ['OutcomeUnknown', 1, 'EU1']);
    assert.deepEqual(await ledger.tasks.of('J-1'), [], 'nobody has written it yet');
    await claimAs(ledger, { attempt: 2 });
    assert.deepEqual(await reasonsOf(ledger), ['OutcomeUnknown 1']);
    assert.deepEqual(await endsOf(ledger), ['OutcomeUnknown open']);
  });

  test('a decision about another reason keeps or reopens the row that the attempt itself needs', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await openHolds(ledger, [{ reason: 'RequestDiffers', since: at(1) }]);
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

  test('a further claim closes the hold before it, and an abandoned inquiry has no open hold', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'notSent' });
    await openHolds(ledger, [{}]);
    await claimAs(ledger, { attempt: 2 });
    assert.deepEqual(await endsOf(ledger), ['GatewayUnreachable claimed']);
    await ledger.recordOutcome(outcomeOf(ledger, { attempt: 2, state: 'unknown' }));
    const giveUp = decisionOf({ attempt: 2, action: 'abandon', failureType: 'OutcomeUnknown' });
    await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, giveUp);
    assert.deepEqual(await openWork(ledger), []);
  });

  test('a late answer opens a flag, and marking the inquiry as seen closes its flags', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ action: 'abandon' }));
    await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }));
    await ledger.tasks.flag(ledgerId, { reason: 'reportChanged', customerTraceNumber: TRACE });
    assert.deepEqual((await reasonsOf(ledger, { kind: 'flagged' })).sort(), ['lateAnswer', 'reportChanged']);
    const seen = { decisionId: 'D-9', customerTraceNumber: TRACE, by: 'ops', reason: 'the provider deletes it' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'recorded' });
    assert.deepEqual(await openWork(ledger), []);
    assert.deepEqual((await endsOf(ledger)).slice(1).sort(), ['lateAnswer seen D-9', 'reportChanged seen D-9']);
  });
}

function runHoldTests(opened: Open): void {
  test('a hold is opened once: a late retry, after its decision or a later hold, opens nothing', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const hold = { reason: 'CredentialsRefused', since: at(0) } as const;
    await openHolds(ledger, [hold, hold]);
    assert.deepEqual(await reasonsOf(ledger), ['CredentialsRefused 1']);
    const goOn = decisionOf({ failureType: 'CredentialsRefused', providerSaid: 'notAsked', decidedAt: at(1) });
    await ledger.recordDecision(ledgerId, INQUIRY, goOn);
    await openHolds(ledger, [hold]);
    assert.deepEqual(await endsOf(ledger), ['CredentialsRefused decided D-1']);
    await openHolds(ledger, [{ ...hold, since: at(5) }, hold]);
    assert.deepEqual(await endsOf(ledger), ['CredentialsRefused decided D-1', 'CredentialsRefused open']);
  });

  test('a run that waits for the reason that the ledger knows shares its row, and another reason replaces the row', async (t) => {
    const { ledger } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    const [row] = await openWork(ledger);
    await openHolds(ledger, [{ reason: 'OutcomeUnknown', since: at(1) }]);
    assert.deepEqual(await openWork(ledger), [row]);
    await openHolds(ledger, [{ reason: 'LedgerRestored', attempt: 2, details: { otherTraceNumber: 'X' } }]);
    const [other] = await openWork(ledger);
    assert.deepEqual([other?.reason, other?.details], ['LedgerRestored', { otherTraceNumber: 'X' }]);
    assert.deepEqual((await endsOf(ledger)).sort(), ['LedgerRestored open', 'OutcomeUnknown replaced']);
  });

  test('a reset run opens its hold again, and the decision that it receives again closes the row', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const goOn = decisionOf({ failureType: 'CredentialsRefused', providerSaid: 'notAsked', decidedAt: at(1) });
    await openHolds(ledger, [{ reason: 'CredentialsRefused' }]);
    await ledger.recordDecision(ledgerId, INQUIRY, goOn);
    await openHolds(ledger, [{ reason: 'CredentialsRefused', since: at(5) }]);
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, goOn), { kind: 'recorded' });
    assert.deepEqual(await endsOf(ledger), ['CredentialsRefused decided D-1', 'CredentialsRefused decided D-1']);
  });

  test('a reset to a hold that was decided since opens its row again', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ failureType: 'OutcomeUnknown', decidedAt: at(1) }));
    await claimAs(ledger, { attempt: 2 });
    assert.deepEqual(await openWork(ledger), []);
    await openHolds(ledger, [{ reason: 'OutcomeUnknown', since: at(5) }]);
    assert.deepEqual(await reasonsOf(ledger), ['OutcomeUnknown 1']);
    const other = decisionOf({ decisionId: 'D-2', failureType: 'OutcomeUnknown', decidedAt: at(6) });
    assert.equal((await ledger.recordDecision(ledgerId, INQUIRY, other)).kind, 'overtaken');
    assert.deepEqual(await openWork(ledger), []);
  });

  test('a hold cannot be opened in another ledger, and a disposal closes the holds of a lost run', async (t) => {
    const { ledger } = await opened(t);
    const hold = { inquiry: INQUIRY, reason: 'GatewayUnreachable', attempt: 1, since: at(0) } as const;
    await assert.rejects(ledger.tasks.openHold('ledger-x', hold), LedgerChangedError);
    await attempted(ledger, {}, { state: 'notSent' });
    await ledger.tasks.openHold(ledger.identity.ledgerId, hold);
    const who = { by: 'records', reason: 'past its time' };
    await ledger.retention.begin('J-1', who);
    assert.equal((await ledger.retention.dispose('J-1', who, 0)).kind, 'done');
    assert.deepEqual(await endsOf(ledger), ['GatewayUnreachable disposed']);
  });
}

function endTests(opened: Open): void {
  test('the end of a run, or a new run of its id, keeps open its unknown outcomes and its flags of reports', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, numbered('PQ-UNKNOWN'), { state: 'unknown' });
    await openHolds(ledger, [{ ...numbered('PQ-UNKNOWN'), reason: 'OutcomeUnknown', since: at(-5) }]);
    await attempted(ledger, numbered('PQ-REFUSED'), { state: 'refused' });
    await openHolds(ledger, [{ ...numbered('PQ-REFUSED'), reason: 'RequestRefused', since: at(-5) }]);
    await attempted(ledger, numbered('PQ-OTHER'), { state: 'unknown' });
    await openHolds(ledger, [{ ...numbered('PQ-OTHER'), reason: 'RequestDiffers', since: at(-5) }, { since: at(-5) }]);
    await ledger.tasks.flag(ledgerId, { reason: 'reportChanged', customerTraceNumber: TRACE });
    const [unknown] = await openWork(ledger, { customerTraceNumber: 'PQ-UNKNOWN' });
    await ledger.tasks.close(ledgerId, { runKey: 'J-1', until: at(-9) });
    assert.equal((await openWork(ledger)).length, 5, 'they began after that');
    for (let tries = 0; tries < 2; tries++) await ledger.tasks.close(ledgerId, { runKey: 'J-1', until: at(9) });
    const left = await openWork(ledger);
    assert.deepEqual(left.map(({ reason, customerTraceNumber }) => `${reason} ${customerTraceNumber}`).sort(), [
      'OutcomeUnknown PQ-OTHER',
      'OutcomeUnknown PQ-UNKNOWN',
      `reportChanged ${TRACE}`,
    ]);
    assert.ok(
      left.some(({ workId }) => workId === unknown?.workId),
      'the row is the same',
    );
    assert.deepEqual((await endsOf(ledger)).filter((end) => end.endsWith('ended')).sort(), [
      'GatewayUnreachable ended',
      'RequestDiffers ended',
      'RequestRefused ended',
    ]);
    await ledger.tasks.close(ledgerId, { runKey: 'J-2', until: at(9) });
  });

  test('a hold that was decided before its run was reset closes when the run ends, even for an unknown outcome', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({ action: 'abandon', failureType: 'OutcomeUnknown' }));
    await openHolds(ledger, [{ reason: 'OutcomeUnknown', since: at(5) }]);
    await ledger.tasks.close(ledgerId, { runKey: 'J-1', until: at(9) });
    assert.deepEqual(await openWork(ledger), []);
  });

  test('the flag of a review stays open while its files cannot be reached, and closes at the latest with the review', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const runKey = 'portfolio:R-1';
    const away = { reason: 'PortfolioUnavailable', runKey, profile: 'default', isOver: false } as const;
    const first = at(1);
    for (let tries = 0; tries < 2; tries++) await ledger.tasks.flag(ledgerId, { ...away, at: first });
    assert.deepEqual(await reasonsOf(ledger, { runKey }), ['PortfolioUnavailable']);
    await ledger.tasks.flag(ledgerId, { ...away, at: at(2), isOver: true });
    await ledger.tasks.flag(ledgerId, { ...away, at: first });
    assert.deepEqual(await endsOf(ledger, runKey), ['PortfolioUnavailable ended'], 'the first try came late');
    await ledger.tasks.flag(ledgerId, { ...away, at: at(3) });
    await ledger.tasks.flag(ledgerId, { ...away, at: at(2), isOver: true });
    assert.deepEqual(await reasonsOf(ledger, { runKey }), ['PortfolioUnavailable']);
    await ledger.tasks.close(ledgerId, { runKey, until: at(4) });
    assert.deepEqual(await openWork(ledger), []);
  });

  test('a try that overlaps another one of its flag opens nothing after the end of the flag', async (t) => {
    const { ledger, ledgerId, again } = await opened(t);
    const other = await again();
    for (const away of tenFlags()) {
      const { runKey } = away;
      const late = other.tasks.flag(ledgerId, away);
      await ledger.tasks.flag(ledgerId, away);
      await ledger.tasks.flag(ledgerId, { ...away, at: at(2), isOver: true });
      await late;
      assert.deepEqual(await endsOf(ledger, runKey), ['PortfolioUnavailable ended']);
    }
  });

  test('a person marks a flag as seen while the run ends it, and neither waits for ever', async (t) => {
    const { ledger, ledgerId, again } = await opened(t);
    const other = await again();
    for (const away of tenFlags()) {
      const { runKey } = away;
      await ledger.tasks.flag(ledgerId, away);
      const seen = {
        runKey,
        decisionId: 'D-1',
        by: 'ops',
        reason: 'seen',
        flag: away.reason,
        runIsGone: true,
      } as const;
      await Promise.all([
        ledger.tasks.flag(ledgerId, { ...away, at: at(2), isOver: true }),
        other.recordSeen(ledgerId, seen),
        ledger.tasks.flag(ledgerId, { ...away, at: at(3), isOver: true }),
      ]);
      assert.deepEqual(await reasonsOf(ledger, { runKey }), []);
    }
  });
}

/** A flag of each of ten reviews whose files are away. */
function tenFlags() {
  return Array.from({ length: 10 }, (_, round) => {
    const runKey = `portfolio:R-${round}`;
    return { reason: 'PortfolioUnavailable', runKey, profile: 'default', at: at(1), isOver: false } as const;
  });
}

const OTHER_SSN = { ...RECORD, flagged: 'ssnMismatch' } as Answer;

function flagTests(opened: Open): void {
  test('an answer with another SSN is flagged in its transaction; a flag opens once and stays until marked as seen', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    await attempted(ledger, {}, { state: 'answered', answer: OTHER_SSN });
    await ledger.tasks.flag(ledgerId, { reason: 'reportChanged', customerTraceNumber: TRACE });
    assert.deepEqual((await reasonsOf(ledger)).sort(), ['reportChanged', 'ssnMismatch']);
    const seen = { decisionId: 'D-9', customerTraceNumber: TRACE, by: 'ops', reason: 'it is the same person' };
    assert.deepEqual(await ledger.recordSeen(ledgerId, seen), { kind: 'recorded' });
    await ledger.tasks.flag(ledgerId, { reason: 'reportChanged', customerTraceNumber: TRACE });
    assert.deepEqual((await endsOf(ledger)).sort(), ['reportChanged seen D-9', 'ssnMismatch seen D-9']);
  });

  test('another SSN in a review is flagged once for the review, and its flags are marked as seen by the review’s id', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const review = 'portfolio:R-1';
    for (const row of ['A', 'B']) {
      const inquiry = { customerTraceNumber: row, runKey: `${review}/${row}`, productCode: 'ACCTRVW' as const };
      await attempted(ledger, { inquiry }, { state: 'answered', answer: OTHER_SSN });
    }
    const away = { reason: 'PortfolioUnavailable', runKey: review, profile: 'default', isOver: false } as const;
    await ledger.tasks.flag(ledgerId, { ...away, at: at(0) });
    const flags = await openWork(ledger);
    assert.deepEqual(flags.map(({ runKey, reason }) => `${runKey} ${reason}`).sort(), [
      `${review} PortfolioUnavailable`,
      `${review} ssnMismatch`,
    ]);
    const who = { runKey: review, by: 'ops', reason: 'the file names them' };
    const other = { ...who, decisionId: 'D-0', flag: 'reportChanged' } as const;
    assert.deepEqual(
      await ledger.recordSeen(ledgerId, other),
      { kind: 'nothingToSee' },
      'it was flagged for another reason',
    );
    assert.deepEqual(await ledger.recordSeen(ledgerId, { ...who, decisionId: 'D-1', flag: 'ssnMismatch' }), {
      kind: 'recorded',
    });
    assert.deepEqual(await reasonsOf(ledger), ['PortfolioUnavailable'], 'its run waits for that');
    assert.deepEqual(await ledger.recordSeen(ledgerId, { ...who, decisionId: 'D-2', flag: away.reason }), {
      kind: 'nothingToSee',
    });
    const ofGone = { ...who, decisionId: 'D-3', flag: away.reason, runIsGone: true } as const;
    assert.deepEqual(await ledger.recordSeen(ledgerId, ofGone), { kind: 'recorded' });
    assert.deepEqual(await openWork(ledger), []);
  });

  test('for a lost run, a row whose attempt has been answered can be marked as seen, and an undecided one cannot', async (t) => {
    const { ledger, ledgerId } = await opened(t);
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
  test('open rows are read in pages, oldest first, by any filter, and are counted by reason', async (t) => {
    const { ledger } = await opened(t);
    const review = 'portfolio:R-1';
    await openHolds(ledger, [
      { ...numbered('A', { runKey: `${review}/row-1`, productCode: 'ACCTRVW' }), since: at(-50) },
      { ...numbered('B', { endUserCode: 'EU2' }), since: at(-40), reason: 'InvalidInput' },
      { ...numbered('C', { profile: 'east' }), since: at(-30) },
    ]);
    const away = { reason: 'PortfolioUnavailable', runKey: review, profile: 'default', isOver: false } as const;
    await ledger.tasks.flag(ledger.identity.ledgerId, { ...away, at: at(-20) });
    await attempted(ledger, { inquiry: { ...SHARE, customerTraceNumber: 'D' } }, { state: 'unknown' });
    await claimAs(ledger, { ...numbered('E', { profile: 'east' }), answerWithinMs: 0 });
    const names = async (filters = {}, limit = 2) =>
      (await openWork(ledger, filters, limit)).map((row) => row.customerTraceNumber ?? row.reason).join(' ');
    for (const limit of [1, 2, 100]) assert.equal(await names({}, limit), 'A B C PortfolioUnavailable D E');
    assert.equal(await names({ reason: 'GatewayUnreachable' }), 'A C');
    assert.equal(await names({ kind: 'flagged' }), 'PortfolioUnavailable');
    assert.equal(await names({ profile: 'east' }), 'C E');
    assert.equal(await names({ endUserCode: 'EU2' }), 'B D');
    assert.equal(await names({ productCode: 'SECONDUSE', kind: 'held' }), 'D');
    assert.equal(await names({ since: at(-25) }), 'PortfolioUnavailable D E');
    assert.equal(await names({ runKey: review }), 'A PortfolioUnavailable');
    assert.equal(await names({ runKey: 'J-1', reason: 'OutcomeUnknown' }), 'D E');
    assert.deepEqual(
      (await ledger.tasks.counts()).map(({ kind, reason, count }) => `${kind} ${reason} ${count}`),
      ['held GatewayUnreachable 2', 'held OutcomeUnknown 2', 'held InvalidInput 1', 'flagged PortfolioUnavailable 1'],
    );
    const [east] = await ledger.tasks.counts({ profile: 'east', reason: 'GatewayUnreachable' });
    assert.deepEqual([east?.count, (east?.oldest ?? '') < at(-25)], [1, true]);
  });
}
