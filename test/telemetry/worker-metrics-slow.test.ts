/** One scrape of a real worker after journeys of several outcomes, and its readiness. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { freePorts } from '../../src/local/free-ports.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';
import { update } from '../support/journey-harness.ts';
import { prequalOnly, startWorld, until, untilHeld } from '../support/process-world.ts';
import { figureOf, metricsIn, type Sample, samplesIn } from './prometheus-text.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

/** All label values: closed lists, and names from the configuration. */
const LABELS = new Set(
  ['product', 'result', 'outcome', 'reason', 'unmatched', 'profile', 'operation', 'le'].concat(
    ['namespace', 'task_queue', 'service_name', 'workflow_type', 'activity_type', 'failure_reason'],
    ['poller_type', 'worker_type', 'eager', 'status_code'],
    ['kind', 'queue', 'stage', 'use', 'build_id', 'state'],
  ),
);

function namedInAlerts(): string[] {
  const { groups } = parse(readFileSync(join(DEPLOY, 'prometheus', 'alerts.yml'), 'utf8'));
  return groups.flatMap(({ rules }: { rules: { expr: string }[] }) => rules.flatMap(({ expr }) => metricsIn(expr)));
}

function namedInDashboard(): string[] {
  const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'grafana', 'credit-journey.json'), 'utf8'));
  return panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.flatMap(({ expr }) => metricsIn(expr)),
  );
}

test('a worker serves the metrics of alerts and dashboard without personal data, and its readiness', async (t) => {
  const [metrics = 0, health = 0] = await freePorts(2);
  const world = await startWorld(t);
  const scrape = async () => samplesIn(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text());
  const ready = async () => {
    const answer = await fetch(`http://127.0.0.1:${health}/readyz`);
    const { checks } = (await answer.json()) as { checks: Record<string, { ok: boolean; reason?: string }> };
    return [
      answer.status,
      Object.entries(checks).flatMap(([name, { ok, reason }]) => (ok ? [] : [`${name} ${reason}`])),
    ];
  };
  await world.startWorker({
    METRICS_ADDRESS: String(metrics),
    HEALTH_ADDRESS: `127.0.0.1:${health}`,
    METRICS_REFRESH_SECONDS: '1',
  });
  assert.deepEqual(await ready(), [200, []]);

  const inputs = [prequalOnly(), prequalOnly('0404'), prequalOnly('4002'), prequalOnly('4002')];
  const [answered, noRecord, unknown, abandoned] = await Promise.all(inputs.map((input) => world.start(input)));
  assert.ok(answered && noRecord && unknown && abandoned);
  const [, hold] = await Promise.all([untilHeld(unknown), untilHeld(abandoned), answered.result(), noRecord.result()]);
  await update(abandoned, 'resolveInquiry', {
    journeyId: abandoned.workflowId.replace('journey-', ''),
    decisionId: 'D1',
    customerTraceNumber: hold.customerTraceNumber,
    attempt: 1,
    action: 'abandon',
    by: 'operator',
    reason: 'asked the provider',
    providerSaid: 'notPosted',
  });
  await abandoned.result();
  let samples: Sample[] = [];
  const held = { kind: 'held', reason: 'OutcomeUnknown' };
  await until('the hold is counted', async () => {
    samples = await scrape();
    return (
      figureOf(samples, METRICS.runningRuns.name, { stage: 'PREQUAL' }) === 1 &&
      figureOf(samples, METRICS.needsPerson.name, held) === 1
    );
  });

  await t.test('its figures match the journeys', () => {
    const product = 'PREQUAL';
    const expected: [string, Record<string, string>, number][] = [
      [METRICS.attempts.name, { product, result: 'answered' }, 2],
      [METRICS.attempts.name, { product, result: 'OutcomeUnknown' }, 2],
      [METRICS.attempts.name, { product: 'SECONDUSE', result: 'answered' }, 0],
      [METRICS.inquiries.name, { product, outcome: 'record' }, 1],
      [METRICS.inquiries.name, { product, outcome: 'noRecord' }, 1],
      [METRICS.inquiries.name, { product, outcome: 'abandoned' }, 1],
      [`${METRICS.timeToAnswer.name}_count`, { product }, 2],
      [METRICS.tokenFetches.name, { profile: 'default', result: 'fetched' }, 1],
      [METRICS.tokenFetches.name, { profile: 'default', result: 'CredentialsRefused' }, 0],
      [`${METRICS.ledgerLatency.name}_count`, { operation: 'claim', result: 'ok' }, 4],
      [METRICS.ledgerUp.name, {}, 1],
      [METRICS.needsPerson.name, { kind: 'unmatched', reason: 'journey' }, 0],
      [METRICS.needsPerson.name, { kind: 'runs', reason: 'WebhookFailed' }, 0],
      [METRICS.needsPerson.name, held, 1],
      [METRICS.needsPerson.name, { kind: 'held', reason: 'Throttled' }, 0],
      [METRICS.runningRuns.name, { stage: product }, 1],
      [METRICS.ledgerOlderCopy.name, {}, 0],
      [METRICS.ledgerLosesCommits.name, {}, 0],
      [METRICS.keyDaysLeft.name, { use: 'ledger' }, 90],
      [METRICS.versionState.name, { build_id: 'unversioned', state: 'current' }, 1],
      [METRICS.deploymentHasCurrent.name, {}, 1],
      [METRICS.unknownKey.name, {}, 0],
      [METRICS.undecodable.name, { reason: 'tampered' }, 0],
      [METRICS.startsAreUnreported.name, { profile: 'default' }, 0],
    ];
    for (const [name, labels, value] of expected) {
      assert.equal(figureOf(samples, name, labels), value, `${name} ${JSON.stringify(labels)}`);
    }
    assert.ok((figureOf(samples, METRICS.oldestAge.name, held) ?? 0) > 0);
    // Approximate: the server may still count a task that was just taken.
    assert.ok((figureOf(samples, METRICS.taskBacklog.name, { queue: 'journeys' }) ?? -1) >= 0);
  });

  await t.test('its metrics include those of alerts, dashboard and our own table', () => {
    const names = new Set(samples.map(({ name }) => name));
    const shown = Object.values(METRICS).map(({ name, kind }) => (kind === 'histogram' ? `${name}_bucket` : name));
    // test/api/process-slow.test.ts checks the metrics of the API and the codec server.
    const isTheirs = (name: string) => name.startsWith('credit_journey_http_');
    const asked = [...namedInAlerts(), ...namedInDashboard(), ...shown];
    const missing = asked.filter((name) => !names.has(name) && !isTheirs(name));
    assert.ok(namedInAlerts().length >= 10 && namedInDashboard().length >= 15);
    assert.deepEqual(missing, []);
  });

  await t.test('no label names a journey, an inquiry, a person or a decision', () => {
    assert.deepEqual(
      [...new Set(samples.flatMap(({ labels }) => Object.keys(labels)))].filter((one) => !LABELS.has(one)),
      [],
    );
    const shown = samples.flatMap(({ labels }) => Object.values(labels)).join('\n');
    const runs = [answered, noRecord, unknown, abandoned].map((handle) => handle.workflowId);
    const people = inputs.flatMap(({ journeyId, endUserCode, applicants }) => [
      journeyId,
      endUserCode,
      ...applicants.flatMap(({ ssn, names }) => [ssn, names[0]?.last]),
    ]);
    for (const word of [...runs, ...people, hold.customerTraceNumber, 'operator', 'Springfield']) {
      assert.ok(typeof word === 'string' && !shown.includes(word), String(word));
    }
  });

  await t.test('it is not ready, and a metric shows that, while the ledger is unreachable', async () => {
    assert.equal((await fetch(`http://127.0.0.1:${health}/healthz`)).status, 200);
    await world.door.close();
    await until('it is not ready', async () => (await ready())[0] === 503);
    assert.deepEqual(await ready(), [503, ['ledger does not answer']]);
    assert.equal((await fetch(`http://127.0.0.1:${health}/healthz`)).status, 200);
    await until('the metric says so', async () => figureOf(await scrape(), METRICS.ledgerUp.name) === 0);
    await world.door.open();
    await until('it is ready', async () => (await ready())[0] === 200);
  });
});
