/**
 * Runs journeys of every outcome with a distinctive value in every personal field, secret and reference. Then searches
 * all their stored data and output for these values, in many spellings. Each value occurs only where it belongs. The
 * same search finds all of them when nothing is encrypted.
 */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { runInParallel } from '../../../src/base/in-parallel.ts';
import { FAILURE_TYPES } from '../../../src/model/failure-types.ts';
import {
  applicant,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  update,
} from '../../support/journey-harness.ts';
import { type PlaceKind, type Sentinel, SentinelSearch } from '../sentinels.ts';
import { CRASH_BUG } from './bugs.ts';
import { HOSTILE_SENTINELS } from './hostile-gateway.ts';
import {
  DECIDED,
  isHeld,
  playAll,
  playBeforeTheKill,
  playForAnotherCustomer,
  playWhilePaused,
  playWithOlderLedger,
  playWithoutLedger,
  until,
} from './journeys.ts';
import { OTHERS, sendOthersMessages, sendRefusedMessages, sendRefusedStarts } from './messages.ts';
import { askApi, askCodecServer, readReports, runCommands } from './other-programs.ts';
import { disguised, personSentinels, REFERENCE_PLACES } from './people.ts';
import { databasePlaces, history, ledgerPlaces, runsOf, scraped, shownByCli, temporalPlaces } from './places.ts';
import type { Place } from './processes.ts';
import { CLIENT_SECRET, fileIfThere, startWorld, type World } from './world.ts';

let world: World;
let journeys: JourneyHandle[];
let others: JourneyHandle[];
let endpoint: string;
let worker: Awaited<ReturnType<World['startWorker']>>;

before(async () => {
  world = await startWorld();
  const first = await world.startWorker('first');
  const { inFlight, moved, again, release } = await playBeforeTheKill(world);
  first.process.kill('SIGKILL');
  await first.ended;
  release();
  [worker, endpoint] = await Promise.all([world.startWorker('second'), world.startCodecServer()]);
  const [played, forAnother, refused, refusedStarts, clear] = await Promise.all([
    playAll(world),
    playForAnotherCustomer(world, again),
    sendRefusedMessages(world),
    sendRefusedStarts(world),
    sendOthersMessages(world),
    update(moved, 'advance', { journeyId: moved.workflowId.replace('journey-', ''), to: 'PREAPP' }),
    until(inFlight, isHeld),
    until(moved, isHeld),
  ]);
  others = clear;
  const withoutLedger = await playWithoutLedger(world);
  journeys = [
    inFlight,
    moved,
    ...played,
    forAnother,
    refused,
    ...refusedStarts,
    await playWhilePaused(world),
    ...withoutLedger,
    await playWithOlderLedger(world),
  ];
});
after(() => world?.close());

/** The bodies of the hostile gateway's refusals, as the ledger keeps them. */
function keptRefusals(): { customer_trace_number: string; attempt: number; body: Uint8Array }[] {
  using database = new DatabaseSync(world.ledger.file, { readOnly: true });
  const rows = database
    .prepare(
      `SELECT customer_trace_number, attempt, body FROM sealed_bodies WHERE kind = 'refusal' AND http_status = 400
       ORDER BY length(body) DESC`,
    )
    .all();
  return rows as unknown as ReturnType<typeof keptRefusals>;
}

/** Collected once for all searches, after all journeys have reached their last state and the worker has crashed. */
let collecting: Promise<Place[]> | undefined;
function collected(): Promise<Place[]> {
  collecting ??= (async () => {
    const [refused] = keptRefusals();
    const refusal = `/inquiries/${refused?.customer_trace_number}/attempts/${refused?.attempt}/refusal`;
    const api = await world.startApi();
    const given = await readReports(world, api, { journey: journeys.at(-2) as JourneyHandle, refusal });
    const repeated = [...given.matchAll(/"isWhole":true.*/g)].join();
    const reasons = [...given.matchAll(/"reason":"(\w+)"/g)].map(([, reason]) => reason);
    assert.ok(refused, 'the ledger keeps no refusal');
    const search = new SentinelSearch(personSentinels());
    assert.ok(search.find(Buffer.from(repeated)).length > 0, `no refusal repeats the request: ${reasons}`);
    const decoded = await askCodecServer(world, endpoint);
    assert.ok(new SentinelSearch(personSentinels()).find(Buffer.from(decoded)).length > 0, 'it gave nothing out');
    const answered = await askApi(world, api);
    assert.match(answered, /^201 /);
    // Status may be in them, as in what the command line says.
    const ofApi = { kind: 'commandLine' as const, name: 'answers of the HTTP API', bytes: Buffer.from(answered) };
    await runCommands(world, others[0] as JourneyHandle);
    const told = [...(await scraped(world)), ...(await temporalPlaces(world, await runsOf(world)))];
    await world.start(journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(CRASH_BUG))] }));
    assert.equal(await worker.ended, 1);
    const [last = ''] = world.said.filter(({ name }) => name === 'second worker').map(({ bytes }) => String(bytes));
    assert.match(last, /"name":"TypeError".*an uncaught error"}\n$/);
    const audit = { kind: 'log' as const, name: 'audit log', bytes: fileIfThere(world.file('audit.log')) };
    const apiLog = {
      kind: 'log' as const,
      name: 'audit log of the HTTP API',
      bytes: fileIfThere(world.file('api-audit.log')),
    };
    return [...told, ...ledgerPlaces(world), audit, apiLog, ofApi, ...world.said];
  })();
  return collecting;
}

/** All values that must be nowhere, or only in their named places. */
async function allSentinels(): Promise<Sentinel[]> {
  for (const { consumerIds, reportReferenceNumber } of await world.postedInquiries()) {
    for (const consumerId of consumerIds) world.seen.add('consumerId', consumerId);
    world.seen.add('reportReferenceNumber', reportReferenceNumber, REFERENCE_PLACES);
  }
  return [
    ...personSentinels(),
    ...HOSTILE_SENTINELS,
    ...world.seen.all,
    { name: 'client secret', value: CLIENT_SECRET },
    ...Object.entries(DECIDED).map(([name, value]) => ({ name, value, mayBeIn: ['ledger' as const] })),
  ];
}

/** The findings in forbidden places, without the values. */
function strayed(search: SentinelSearch, places: readonly Place[]): string[] {
  return places.flatMap(({ kind, name, bytes }) =>
    search
      .find(bytes)
      .filter(({ sentinel }) => !sentinel.mayBeIn?.includes(kind))
      .map(({ sentinel, spelling, around }) => `${name}: ${sentinel.name}, ${spelling}, in ${around}`),
  );
}

/** The values that were found, in any spelling. */
function foundIn(search: SentinelSearch, places: readonly Place[]): Set<string> {
  return new Set(places.flatMap(({ bytes }) => search.find(bytes).map(({ sentinel }) => sentinel.value)));
}

async function assertNotIn(kind: PlaceKind): Promise<void> {
  const places = (await collected()).filter((place) => place.kind === kind);
  assert.ok(places.length > 0);
  assert.deepEqual(strayed(new SentinelSearch(await allSentinels()), places), []);
}

describe('sentinels in every field of journeys of every outcome', () => {
  test('belong to journeys with every outcome and every failure type', async () => {
    const ends = await runInParallel(journeys, 4, async (journey) => {
      if ((await journey.describe()).status.name === 'RUNNING') return 'running';
      return journey.result().then(
        ({ outcome }) => outcome,
        () => 'failed',
      );
    });
    const ENDS = ['completed', 'stopped', 'expired', 'withdrawn', 'abandoned', 'failed', 'running'] as const;
    assert.deepEqual(
      ENDS.filter((end) => !ends.includes(end)),
      [],
    );
    const texts = (await collected()).map(({ bytes }) => Buffer.from(bytes).toString('latin1')).join('\n');
    const met = new Set([...texts.matchAll(/"(?:failureType|type)":"(\w+)"/g)].map(([, type]) => type));
    assert.deepEqual(
      FAILURE_TYPES.filter((type) => !met.has(type)),
      // It needs a world with other time-outs (test/hazards/answered-late.test.ts). Its hold shows what others show.
      ['AnsweredLate'],
    );
  });

  test('reach neither Temporal’s files nor the output of its API and its CLI', () => assertNotIn('temporal'));

  test('reach no log line, audit line or metric, also of a process that crashed', async () => {
    const silent = (await collected()).filter(({ kind, bytes }) => kind === 'log' && bytes.length === 0);
    assert.deepEqual(silent, []);
    await assertNotIn('log');
  });

  test('cannot be read in the ledger’s files', () => assertNotIn('ledger'));

  test('are not in the command line’s output about journeys and about input that it refuses', () =>
    assertNotIn('commandLine'));

  test('stay in the one event that brought them if a caller sends them in the clear', async () => {
    const files = databasePlaces(world).map(({ name }) => name);
    const ids = others.map(({ workflowId }) => workflowId);
    const places = (await collected()).filter(({ name }) => !files.includes(name));
    const isTheirs = ({ name }: Place) => ids.some((id) => name.endsWith(id));
    const search = new SentinelSearch(OTHERS);
    assert.equal(foundIn(search, places.filter(isTheirs)).size, OTHERS.length);
    const without = places.map((place) => (isTheirs(place) ? withoutMessages(place) : place));
    assert.deepEqual(strayed(search, without), []);
  });
});

/** Removes from the JSON of a run the messages that it was sent, which the history has unchanged. */
function withoutMessages(place: Place): Place {
  const json = JSON.stringify(JSON.parse(Buffer.from(place.bytes).toString()), (name, value) => {
    if (name === 'workflowExecutionSignaledEventAttributes') return undefined;
    return name === 'workflowExecutionStartedEventAttributes' ? { ...value, input: undefined } : value;
  });
  return { ...place, bytes: Buffer.from(json) };
}

describe('the search finds', () => {
  const PERSONAL = personSentinels().filter(({ value }) => !/": "/.test(value));

  test('all sentinels in the traffic of the gateway and the token service', async () => {
    await collected();
    const search = new SentinelSearch(await allSentinels());
    const received = { kind: 'log' as const, name: 'received', bytes: Buffer.from(world.gateway.received.join('\n')) };
    const found = foundIn(search, [received]);
    const wanted = [...PERSONAL.map(({ value }) => value), CLIENT_SECRET];
    assert.deepEqual(
      wanted.filter((value) => !found.has(value)),
      [],
    );
  });

  test('all sentinels in Temporal’s files and API if the codec is off', async (t) => {
    // Later searches would find the values that this test sends in the clear.
    await collected();
    const { server } = world;
    const clear = await startHarness({ server, env: { PAYLOAD_ENCRYPTION: 'off' } });
    t.after(() => clear.close());
    const applicants = ['1A', '2A'].map((applicantId) => disguised({ applicantId, ssn: newSsn() }));
    const handle = await clear.start(journeyInput({ stages: ['PREQUAL'], applicants }));
    const { stages } = await handle.result();
    const { reference } = stages[0] ?? {};
    const values = [
      // A ZIP code alone is too short for base64: there it is found with its name.
      ...PERSONAL.map(({ value }) => value).filter((value) => value.length > 5),
      ...applicants.map(({ ssn }) => ssn),
      reference?.reportReferenceNumber ?? '',
      ...(reference?.applicants ?? []).map(({ consumerId }) => consumerId),
    ];
    const search = new SentinelSearch(values.map((value) => ({ name: value, value })));
    const run = { workflowId: handle.workflowId, runId: (await handle.describe()).runId };
    for (const places of [databasePlaces(world), [await history(world, run)], [await shownByCli(world, run)]]) {
      const found = foundIn(search, places);
      assert.deepEqual(
        values.filter((value) => !found.has(value)),
        [],
        places[0]?.name,
      );
    }
  });
});
