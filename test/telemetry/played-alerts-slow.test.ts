/**
 * Each alert, played: a real Prometheus with our rules scrapes real processes; what causes an alert is done, the alert
 * fires; the cause is mended, it clears. Durations of the rules are divided by `FACTOR`, thresholds are not.
 *
 * Of Kubernetes there is a stand-in: `RestartLoop` for a pod is played with the metric of kube-state-metrics. What takes
 * hours is played by a second worker whose clock is ahead, and what takes weeks by the age that the key ring's file tells.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Client } from '@temporalio/client';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import type { KeyRingContent } from '../../src/protection/keys/key-ring-file.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import { consentMessage, type JourneyHandle, journeyInput } from '../support/journey-harness.ts';
import { prequalOnly, resend, until, untilHeld } from '../support/process-world.ts';
import { promote } from '../support/promote.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { type PlayedWorld, startPlayedWorld } from './played/played-world.ts';
import { rulesIn } from './played/scaled-rules.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
const RULES = rulesIn(readFileSync(join(DEPLOY, 'prometheus', 'alerts.yml'), 'utf8'));
const DAY_MS = 24 * 60 * 60 * 1_000;
const BACKLOG = 'max by (queue) (credit_journey_task_backlog)';

const withProfile = (input: LendingJourneyInput, profile: string) => ({ ...input, profile });

test('each alert fires for its cause, and clears when that is mended', async (t) => {
  const played = await startPlayedWorld(t);
  const { prometheus, world } = played;
  const { untilFiring, untilClear } = prometheus;
  await ageKeys(played, 80);
  const worker = await played.startWorker('worker');
  const api = await played.startApi();
  const waiting: JourneyHandle[] = [];

  await t.test('no version is current, and work waits', async () => {
    for (let count = 0; count < 40; count++) waiting.push(await world.start(withProfile(prequalOnly(), 'busy')));
    await until('the backlog is seen', async () => (await backlogOf(played, 'journeys')) >= 40);
    await untilFiring('NoCurrentVersion', { severity: 'page' });
    const { workflowService, options } = world.client;
    await promote(workflowService, options.namespace, { deploymentName: played.deploymentName, buildId: '1' });
    await untilClear('NoCurrentVersion');
    await until('the journeys have a worker', async () => (await backlogOf(played, 'journeys')) === 0);
  });

  await t.test('what waits for a version is seen by another one', async () => {
    const watching = { NODE_OPTIONS: '', TASK_QUEUE: played.queueOf('worker'), BUILD_ID: '2' };
    const next = await played.startWorker('later', watching);
    worker.freeze();
    const late = await Promise.all(Array.from({ length: 10 }, () => world.start(prequalOnly())));
    await until('the backlog is seen', async () => (await backlogOf(played, 'journeys')) >= 10);
    worker.thaw();
    await Promise.all(late.map((handle) => handle.result()));
    await until('none waits', async () => (await backlogOf(played, 'journeys')) === 0);
    await next.terminate();
  });

  await t.test('causes side by side', { concurrency: true }, async (t) => {
    const scene = (name: string, play: (t: TestContext) => Promise<void>) => t.test(name, play);
    await Promise.all([
      scene('more waits than may be sent', () => playBusyGateway(played, waiting)),
      scene('keys grow old, and are rotated', () => playOldKeys(played)),
      scene('an unknown key', () => playUnknownKey(played)),
      scene('a secret that was changed', () => playRefusedSecret(played)),
      scene('an endpoint that takes no event', () => playDeafEndpoint(played)),
      scene('a hold, and what is left behind', () => playHolds(played)),
      scene('an HTTP client without markers', () => playMutedClient(played)),
      scene('programs that end at once', () => playRestarts(played)),
    ]);
  });

  await t.test('the ledger is away, and the API fails for it', async () => {
    await world.door.close();
    let isOver = false;
    const callers = (async () => {
      while (!isOver) {
        await played.askApi('/v1/holds');
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    })();
    const [down] = await Promise.all([untilFiring('LedgerDown'), untilFiring('ApiErrors', { service: 'api' })]);
    assert.equal(down.labels.instance, played.instance('worker'));
    await world.door.open();
    await Promise.all([untilClear('LedgerDown'), untilClear('ApiErrors')]);
    isOver = true;
    await callers;
  });

  await t.test('the API is gone', async () => {
    await api.stop(5_000);
    await untilFiring('ServiceDown', { job: 'credit-journey-api' });
    await played.startApi();
    await untilClear('ServiceDown');
  });

  await t.test('the server is away from a worker that is up', async () => {
    played.toServer.cut();
    await untilFiring('TemporalDown', { instance: played.instance('worker') });
    played.toServer.heal();
    await untilClear('TemporalDown');
  });

  await t.test('the ledger stops waiting for its standby', async () => {
    played.onPostgres.losesCommits = true;
    await untilFiring('LedgerNotDurable');
    played.onPostgres.losesCommits = false;
    await untilClear('LedgerNotDurable');
  });

  await t.test('no worker, and then an older copy of the ledger', async () => {
    await playOlderCopy(played, worker);
  });

  await t.test('every alert of the rule file has fired in a scene', async () => {
    const seen = await prometheus.seen();
    const unseen = RULES.filter(
      ({ alert, labels }) => !seen.some((one) => one.alertname === alert && one.severity === labels.severity),
    );
    assert.deepEqual(
      unseen.map(({ alert }) => alert),
      [],
    );
  });

  await t.test('no panel of the dashboard is without data', async () => {
    const { panels } = JSON.parse(await readFile(join(DEPLOY, 'grafana', 'credit-journey.json'), 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    const empty: string[] = [];
    for (const { title, targets } of panels) {
      for (const { expr } of targets) {
        const found = await prometheus.sinceStart(expr.replaceAll('$__rate_interval', '10s'));
        const hasFigure = found.some(({ values }) => values.some(([, value]) => Number.isFinite(Number(value))));
        if (!hasFigure) empty.push(`${title}: ${expr}`);
      }
    }
    assert.deepEqual(empty, []);
  });
});

async function backlogOf({ prometheus }: PlayedWorld, queue: string): Promise<number> {
  const found = await prometheus.ask(BACKLOG);
  return found.find(({ metric }) => metric.queue === queue)?.value ?? -1;
}

async function playBusyGateway(played: PlayedWorld, waiting: readonly JourneyHandle[]): Promise<void> {
  const { untilFiring, untilClear } = played.prometheus;
  await until('attempts wait', async () => (await backlogOf(played, 'gateway')) > 0);
  // On a busy machine other queues wait as well.
  const busy = { task_queue: `${played.queueOf('worker')}-gateway-busy` };
  await untilFiring('ScheduleToStartOver5S', busy);
  await Promise.all(waiting.map((handle) => handle.result()));
  await untilClear('ScheduleToStartOver5S', busy);
  await until('none waits any more', async () => (await backlogOf(played, 'gateway')) === 0);
}

async function changeKeys({ world }: PlayedWorld, change: (ring: KeyRingContent) => void): Promise<void> {
  const file = world.workerEnv.KEY_RING_FILE ?? '';
  const ring = JSON.parse(await readFile(file, 'utf8')) as KeyRingContent;
  change(ring);
  await writeFile(`${file}.new`, JSON.stringify(ring), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

function ageKeys(played: PlayedWorld, days: number): Promise<void> {
  const createdAt = new Date(Date.now() - days * DAY_MS).toISOString();
  return changeKeys(played, ({ keys }) => {
    for (const key of keys) if (key.status === 'current') key.createdAt = createdAt;
  });
}

async function playOldKeys(played: PlayedWorld): Promise<void> {
  const { untilFiring, untilClear } = played.prometheus;
  await untilFiring('KeysNearLastDay', { severity: 'ticket', use: 'ledger' });
  await ageKeys(played, 88);
  await untilFiring('KeysNearLastDay', { severity: 'page', use: 'payload' });
  await untilClear('KeysNearLastDay', { severity: 'ticket' });
  await played.cli('keys', 'rotate');
  await untilClear('KeysNearLastDay');
}

async function playUnknownKey(played: PlayedWorld): Promise<void> {
  const { world, prometheus } = played;
  const sealed = await played.startWorker('sealed');
  const foreignFile = `${world.workerEnv.KEY_RING_FILE}.foreign`;
  const foreignKeys = await createKeyRing(foreignFile);
  const { connection, options } = world.client;
  const { namespace } = options;
  const dataConverter = createDataConverter({ keys: foreignKeys, namespace, mode: 'client' });
  const foreign = new Client({ connection, namespace, dataConverter });
  const input = prequalOnly();
  const handle = await foreign.workflow.start('lendingJourney', {
    ...{ workflowId: `journey-${input.journeyId}`, taskQueue: played.queueOf('sealed'), args: [input] },
  });
  // Its tasks fail until the key is there.
  await Promise.all([prometheus.untilFiring('UnknownKey'), prometheus.untilFiring('WorkflowTasksFail')]);
  const found = JSON.parse(await readFile(foreignFile, 'utf8')) as KeyRingContent;
  await changeKeys(played, ({ keys }) => {
    for (const key of found.keys) keys.push({ ...key, status: 'retired', retiredAt: new Date().toISOString() });
  });
  await until('the run goes on', async () => (await handle.describe()).status.name === 'COMPLETED');
  await Promise.all([prometheus.untilClear('UnknownKey'), prometheus.untilClear('WorkflowTasksFail')]);
  await sealed.terminate();
}

async function playRefusedSecret({ world, prometheus, secretFile }: PlayedWorld): Promise<void> {
  const handle = await world.start(withProfile(prequalOnly(), 'refused'));
  const hold = await untilHeld(handle, 'CredentialsRefused');
  await prometheus.untilFiring('TokenRefused', { profile: 'refused' });
  // A hold that no clock had to make old.
  await prometheus.untilFiring('HoldOlderThan15Minutes', { reason: 'CredentialsRefused' });
  await writeFile(secretFile, 'sandbox-secret');
  await resend(handle, hold, 'notAsked');
  await handle.result();
  await Promise.all([
    prometheus.untilClear('TokenRefused'),
    prometheus.untilClear('HoldOlderThan15Minutes', { reason: 'CredentialsRefused' }),
  ]);
}

async function playDeafEndpoint({ world, prometheus, receiver, cli }: PlayedWorld): Promise<void> {
  receiver.answer('/platform', 500);
  await (await world.start(withProfile(prequalOnly(), 'told'))).result();
  await prometheus.untilFiring('WebhooksGivenUp');
  receiver.answer('/platform', 204);
  await cli('webhooks', 'resend', '--all');
  await prometheus.untilClear('WebhooksGivenUp');
}

/** One run waits for a decision, one was terminated while it did, and a consent matches nothing. */
async function playHolds(played: PlayedWorld): Promise<void> {
  const { world, prometheus, cli } = played;
  const { untilFiring, untilClear } = prometheus;
  const [held, left] = await Promise.all([world.start(prequalOnly('4002')), world.start(prequalOnly('4002'))]);
  const [hold, leftHold] = await Promise.all([untilHeld(held), untilHeld(left)]);
  await left.terminate('by mistake');
  const { journeyId } = journeyInput();
  const { evidence: _, ...denied } = consentMessage(journeyId, { applicantId: '1A', decision: 'denied' });
  await world.client.workflow.execute('recordLateConsent', {
    workflowId: `late-consent-${journeyId}-0123456789abcdef`,
    taskQueue: world.workerEnv.TASK_QUEUE ?? '',
    args: [{ consent: denied }],
  });
  const later = await played.startWorker('later');
  const outcomeUnknown = { reason: 'OutcomeUnknown' };
  const [old] = await Promise.all([
    untilFiring('HoldOlderThan15Minutes', outcomeUnknown),
    untilFiring('ConsentsUnmatched'),
  ]);
  assert.equal(old.annotations.summary, 'Something has needed a person for 15 minutes (OutcomeUnknown)');
  const by = ['--by', 'ops', '--reason', 'a drill'];
  const { customerTraceNumber, attempts } = leftHold;
  await cli(
    ...[
      'resolve',
      left.workflowId.replace('journey-', ''),
      customerTraceNumber,
      '--attempt',
      String(attempts),
      '--action',
      'abandon',
    ],
    ...['--provider-said', 'posted', ...by],
  );
  await cli('seen', 'consents', '--run-key', journeyId, ...by);
  await resend(held, hold);
  await held.result();
  await Promise.all([untilClear('HoldOlderThan15Minutes', outcomeUnknown), untilClear('ConsentsUnmatched')]);
  await later.terminate();
}

async function playMutedClient({ world, prometheus, startWorker, instance, queueOf }: PlayedWorld): Promise<void> {
  const muted = await startWorker('muted');
  const input = prequalOnly();
  await world.client.workflow.start('lendingJourney', {
    ...{ workflowId: `journey-${input.journeyId}`, taskQueue: queueOf('muted'), args: [input] },
  });
  await prometheus.untilFiring('WireMarkersBroken', { profile: 'default' });
  await muted.terminate();
  // The same worker with an HTTP client that is whole.
  const mended = await startWorker('muted', { NODE_OPTIONS: '' });
  await until(
    'it is scraped',
    async () => (await prometheus.ask(`up{instance="${instance('muted')}"} == 1`)).length > 0,
  );
  await prometheus.untilClear('WireMarkersBroken');
  await mended.terminate();
}

async function playRestarts(played: PlayedWorld): Promise<void> {
  const { prometheus, kubernetes, startCodecServer } = played;
  const starts = 'changes(credit_journey_started_timestamp_seconds{service="codec-server"}[10m])';
  for (let count = 0; count < 5; count++) {
    const child = await startCodecServer();
    await until('its start is scraped', async () => ((await prometheus.ask(starts))[0]?.value ?? -1) >= count);
    kubernetes.restarts += 1;
    if (count < 4) await child.stop(1_000);
  }
  await Promise.all([
    prometheus.untilFiring('RestartLoop', { service: 'codec-server' }),
    prometheus.untilFiring('RestartLoop', { pod: 'credit-journey-api-7d9f-x2x' }),
  ]);
  // They stay up: half an hour later nothing of it is in sight.
  await prometheus.untilClear('RestartLoop');
}

async function playOlderCopy(played: PlayedWorld, worker: WorkerProcess): Promise<void> {
  const { world, prometheus, cli } = played;
  const { untilFiring, untilClear } = prometheus;
  const backup = `${world.ledgerFile}.backup`;
  const database = new DatabaseSync(world.ledgerFile);
  database.prepare('VACUUM INTO ?').run(backup);
  database.close();
  await (await world.start(prequalOnly())).result();
  // The watch over the ledger has seen that attempt by then.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  assert.equal(await worker.terminate(), 0);
  await untilFiring('NoWorkerPolling');
  for (const ending of ['', '-wal', '-shm']) await rm(`${world.ledgerFile}${ending}`, { force: true });
  await copyFile(backup, world.ledgerFile);
  await played.startWorker('worker');
  await Promise.all([untilClear('NoWorkerPolling'), untilFiring('LedgerRestored')]);
  await cli('ledger', 'accept-restore', '--by', 'ops', '--reason', 'a drill');
  await untilClear('LedgerRestored');
}
