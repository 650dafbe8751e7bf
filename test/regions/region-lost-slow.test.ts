/** A region is lost under load. The other takes over as in docs/deploy.md, on an older Temporal and the standby. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../src/client/connection/errors.ts';
import type { ComparedRun } from '../../src/operator/compare-with-temporal.ts';
import { consentMessage } from '../support/journey-harness.ts';
import { Callers, decisionAboutHold, oneStage, withGate, withShare } from './callers.ts';
import { type Region, startTwoRegions, type TwoRegions } from './two-regions.ts';

/** How old Temporal's copy is when the region is lost. A minute in earnest: `REGION_COPY_AGE_MS=60000`. */
const COPY_AGE_MS = Number(process.env.REGION_COPY_AGE_MS ?? 8_000);
const STARTS_EVERY_MS = Number(process.env.REGION_STARTS_EVERY_MS ?? 250);
/** Clocks, and what was under way at the copy's moment. */
const MARGIN_MS = 5_000;

let regions: TwoRegions;
before(async () => {
  regions = await startTwoRegions();
});
after(() => regions?.close());

interface Compared {
  compared: number;
  runs: ComparedRun[];
  consents?: { sent: number; failed: object[] };
}

interface PostedRow {
  customerTraceNumber: string;
}

async function posted(): Promise<Map<string, number>> {
  const rows = (await (await fetch(`${regions.sandboxUrl}/_sandbox/inquiries`)).json()) as PostedRow[];
  return new Map(
    [...Map.groupBy(rows, ({ customerTraceNumber }) => customerTraceNumber)].map(([name, all]) => [name, all.length]),
  );
}

async function compare(region: Region, since: string, code: number, ...more: string[]): Promise<Compared> {
  const ran = await region.cli('ledger', 'compare', '--since', since, ...more, '--json');
  assert.equal(ran.code, code, ran.stderr + ran.stdout);
  return JSON.parse(ran.stdout) as Compared;
}

async function done(region: Region, ...args: string[]): Promise<void> {
  const ran = await region.cli(...args);
  assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.stderr}${ran.stdout}`);
}

test('after the loss of a region nothing is posted twice, and all acknowledged messages are in the ledger', {
  timeout: 400_000,
}, async (t) => {
  const callers = new Callers(regions.first.journeys);
  const who = ['--by', 'ops', '--reason', 'the region is lost'];
  const steps: [step: string, ms: number][] = [];
  const timed = async <T>(step: string, act: () => Promise<T> | T): Promise<T> => {
    const from = performance.now();
    const value = await act();
    steps.push([step, performance.now() - from]);
    return value;
  };
  const all = <T>(count: number, act: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, i) => act(i)));

  // Before the copy: runs that wait for a message.
  const ended = await all(3, () => callers.start(oneStage()));
  const atGate = await all(3, () => callers.start(withGate()));
  const held = await all(4, () => callers.start(oneStage('4002')));
  const forConsent = await all(3, () => callers.start(withShare()));
  const refused = await callers.start(withShare(2));
  for (const id of ended) await callers.untilState(id, 'completed');
  for (const id of atGate) await callers.untilState(id, 'waitingAtGate');
  for (const id of held) await callers.untilState(id, 'held');
  for (const id of [...forConsent, refused]) await callers.untilState(id, 'waitingForConsent');
  await callers.consent(refused, consentMessage(refused, { applicantId: '1A', consentId: 'C-1A' }));

  // The load continues until the region is lost. At that moment some requests are in flight.
  const background: string[] = [];
  let isLost = false;
  t.after(() => {
    isLost = true;
  });
  const load = (async () => {
    for (let count = 0; !isLost; count++) {
      const input = count % 4 === 3 ? oneStage('4011') : oneStage();
      await callers.start(input).then(
        (id) => background.push(id),
        () => {},
      );
      await delay(STARTS_EVERY_MS);
    }
  })();
  await delay(1_000);
  const copiedAt = Date.now();
  regions.copyTemporal();

  // After the copy: messages and runs that Temporal's copy lacks.
  for (const id of atGate) await callers.advance(id, 'PREAPP');
  const [resent = '', resentToo = '', abandoned = ''] = held;
  for (const [index, id] of [resent, resentToo, abandoned].entries()) {
    const status = await callers.status(id);
    await callers.decide(id, decisionAboutHold(status, id === abandoned ? 'abandon' : 'resend', `D-${index}`));
  }
  for (const id of forConsent)
    await callers.consent(id, consentMessage(id, { applicantId: '1A', consentId: `C-${id}` }));
  const revocation = consentMessage(refused, { applicantId: '1A', consentId: 'C-1A', decision: 'revoked' });
  await callers.consent(refused, revocation);
  const late = await all(3, () => callers.start(oneStage()));
  const lateHeld = await all(2, () => callers.start(oneStage('4002')));
  const lateAtGate = await callers.start(withGate());
  for (const id of [...atGate, ...forConsent, ...late]) await callers.untilState(id, 'completed');
  for (const id of lateHeld) await callers.untilState(id, 'held');
  await callers.untilState(lateAtGate, 'waitingAtGate');
  await callers.advance(lateAtGate, 'PREAPP');
  await callers.untilState(lateAtGate, 'completed');
  await delay(Math.max(0, copiedAt + COPY_AGE_MS - Date.now()));

  await regions.loseFirst();
  const lostAt = Date.now();
  isLost = true;
  await load;
  const before = await posted();
  const started = callers.taken.filter((one) => one.kind === 'start');
  const since = new Date(copiedAt - MARGIN_MS).toISOString();

  // The order of docs/deploy.md.
  await timed('promote the standby', () => regions.postgres.promote());
  const second = await timed('start Temporal from the copy', () => regions.startSecond());
  await timed('pause', () => done(second, 'pause', ...who));
  await timed('audit verify', () => done(second, 'audit', 'verify'));
  const found = await timed('compare', () => compare(second, since, 3));
  const byOwner = new Map(found.runs.map((one) => [one.runKey, one]));
  for (const id of [...late, ...lateHeld, lateAtGate]) assert.equal(byOwner.get(id)?.kind, 'noRun', id);
  for (const id of atGate) assert.ok((byOwner.get(id)?.attempts ?? 0) >= 1, id);
  for (const id of [resent, abandoned]) assert.equal(byOwner.get(id)?.decisions, 1, id);
  for (const id of forConsent) assert.equal(byOwner.get(id)?.consents, 1, id);
  assert.ok((byOwner.get(refused)?.consents ?? 0) >= 1);
  // Runs that the copy has, and that have not changed since, are not named.
  for (const id of ended) assert.equal(byOwner.has(id), false, id);
  // Every background run that has a row and is not in the copy is named.
  const ledger = await regions.openLedger();
  for await (const { runKey, claimedAt } of ledger.inquiriesBetween({
    from: new Date(copiedAt + 1_000).toISOString(),
  })) {
    assert.ok(byOwner.has(runKey), `${runKey}, claimed at ${claimedAt}, is not named`);
  }

  await timed('workers', () => second.startWorker());
  callers.moveTo(second.journeys);
  await timed('send again', async () => {
    // Platforms send again all messages since the copy. A start of a run that exists finds that run.
    const again = callers.taken.filter(({ at }) => at >= copiedAt - MARGIN_MS);
    for (const one of again) {
      if (one.kind === 'start') {
        await callers.start(one.input).catch((error: unknown) => {
          if (!hasCode(error, 'journeyFinished')) throw error;
        });
      }
    }
    const { consents } = await compare(second, since, 0, '--send-consents');
    assert.deepEqual(consents?.failed, []);
    assert.ok((consents?.sent ?? 0) >= forConsent.length);
    for (const one of again) {
      if (one.kind === 'advance') {
        await callers.until(one.journeyId, ({ state }) => state === 'waitingAtGate');
        await callers.advance(one.journeyId, one.to);
      }
    }
    await callers.decide(resent, decisionAboutHold(await callers.untilState(resent, 'held'), 'resend', 'D-0'));
    // An operator who does not know the first decision sends another. The recorded one takes precedence.
    const anew = decisionAboutHold(await callers.untilState(resentToo, 'held'), 'abandon', 'D-1-again');
    await assert.rejects(callers.decide(resentToo, anew), /nothing was decided/);
    await callers.decide(abandoned, decisionAboutHold(await callers.untilState(abandoned, 'held'), 'abandon', 'D-2'));
  });

  // While it is paused, the ledger answers for everything that was sent, and nothing is sent.
  for (const id of [...atGate, ...late, lateAtGate, resent, resentToo]) await callers.untilState(id, 'completed');
  for (const id of forConsent) {
    assert.equal((await callers.untilState(id, 'completed')).shares[0]?.state, 'posted');
  }
  assert.deepEqual(await posted(), before);
  await timed('compare again', () => compare(second, since, 0));
  await timed('resume', () => done(second, 'resume', ...who));

  // All runs end. Requests that were in flight when the region was lost wait for an operator.
  await timed('all have ended', async () => {
    for (const one of started) {
      const { journeyId } = one.input;
      const isOver = ({ state }: { state: string }) => !['running', 'held', 'waitingForConsent'].includes(state);
      const status = await callers.until(
        journeyId,
        (now) => isOver(now) || now.state === 'held' || now.state === 'waitingForConsent',
      );
      if (status.state !== 'held') continue;
      await callers.decide(journeyId, decisionAboutHold(status, 'abandon', `last-${journeyId}`));
      await callers.until(journeyId, isOver);
    }
  });
  // The revocation was sent to a run that is gone, and still counts.
  assert.equal((await callers.status(refused)).shares[0]?.state, 'revoked');

  // Nothing twice without a decision.
  for (const [name, count] of await posted()) {
    const inquiry = await ledger.inquiry(name);
    assert.ok(inquiry, `${name} was posted, and the ledger does not know it`);
    const resends = inquiry.decisions.filter(({ action }) => action === 'resend').length;
    assert.ok(count <= 1 + resends, `${name} was posted ${count} times`);
  }
  // The ledger has every acknowledged decision and consent.
  const [decisions, consents] = [new Set<string>(), new Set<string>()];
  for await (const one of ledger.decisionsBetween()) decisions.add(`${one.runKey} ${one.decisionId}`);
  for await (const one of ledger.consentsBetween()) consents.add(`${one.runKey} ${one.consentId} ${one.decision}`);
  for (const one of callers.taken) {
    if (one.kind === 'decision') assert.ok(decisions.has(`${one.journeyId} ${one.decision.decisionId}`));
    if (one.kind === 'consent') {
      assert.ok(consents.has(`${one.journeyId} ${one.message.consentId} ${one.message.decision}`));
    }
  }
  await done(second, 'audit', 'verify');
  t.diagnostic(
    `${started.length} runs, ${found.runs.length} named of ${found.compared}, copy ${lostAt - copiedAt} ms old: ` +
      steps.map(([step, ms]) => `${step} ${Math.round(ms)} ms`).join(', '),
  );
});
