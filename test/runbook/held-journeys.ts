/** Journeys on hold, as many as are wanted for each failure type, from one worker on one server. */
import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { HoldStatus } from '../../src/messages/journey/shapes.ts';
import type { FailureType } from '../../src/model/failure-types.ts';
import { untilIdle, withLedger } from '../hazards/operator-hands.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from '../support/journey-harness.ts';

export interface HeldJourney {
  handle: JourneyHandle;
  input: LendingJourneyInput;
  hold: HoldStatus;
}

/** Profiles whose servers are not as they should be; `moving` is as it should be until a journey waits at its gate. */
export type TroubledProfile = 'unreachable' | 'tokenless' | 'untrusted' | 'moving';

/** The cause of a journey's hold: the digits of an SSN (docs/sandbox.md), or a profile. */
interface Cause {
  digits?: string;
  profile?: TroubledProfile;
}

const HELD_AT_ONCE: Partial<Record<FailureType, Cause>> = {
  CredentialsRefused: { digits: '1401' },
  NotEntitled: { digits: '1403' },
  RequestRefused: { digits: '1422' },
  OutcomeUnknown: { digits: '4002' },
  UnexpectedResponse: { digits: '4020' },
  ReturnCodeUnknown: { digits: '0408' },
  GatewayUntrusted: { profile: 'untrusted' },
};

/** Held once `GIVE_UP_AFTER` is over. */
const GIVEN_UP: Partial<Record<FailureType, Cause>> = {
  GatewayUnreachable: { profile: 'unreachable' },
  TokenUnavailable: { profile: 'tokenless' },
  Throttled: { digits: '1429' },
  TokenRejected: { digits: '1401' },
};

interface Trouble {
  profile?: TroubledProfile;
  /** Done to the worker's surroundings while the journeys pass their gate; returns what undoes it. */
  make(harness: Harness): Promise<() => Promise<void>>;
}

const HELD_AT_GATE: Partial<Record<FailureType, Trouble>> = {
  ProfileChanged: { profile: 'moving', make: (harness) => changeProfile(harness, { customerId: 'OTHER' }) },
  InvalidInput: {
    profile: 'moving',
    make: (harness) => changeProfile(harness, { allowed: { PREAPP: { endUserCodes: ['EU0'] } } }),
  },
  LedgerChanged: {
    make: async (harness) => {
      const own = setLedgerId(harness, 'ledger-of-others');
      return async () => void setLedgerId(harness, own);
    },
  },
};

const GIVEN_UP_AT_GATE: Partial<Record<FailureType, Trouble>> = {
  ActivityFailed: {
    profile: 'moving',
    make: (harness) =>
      changeProfile(harness, {
        get authUrl(): never {
          throw new Error('a bug');
        },
      }),
  },
  LedgerRestored: {
    make: (harness) =>
      withLedger(harness, async (ledger) => {
        const { ledgerId } = ledger.identity;
        await ledger.watch(ledgerId, { position: 1_000_000, claimedAt: new Date().toISOString() });
        const acceptance = { by: 'a test', reason: 'it is over' };
        return () => withLedger(harness, async (again) => void (await again.acceptRestore(ledgerId, acceptance)));
      }),
  },
  LedgerUnavailable: {
    make: async ({ config }) => {
      const file = config.ledger.url.slice('file:'.length);
      await rename(file, `${file}.away`);
      return () => rename(`${file}.away`, file);
    },
  },
};

/** @param count how many of each are wanted */
export async function holdJourneys(
  harness: Harness,
  count: (failureType: FailureType) => number,
): Promise<Map<FailureType, HeldJourney[]>> {
  const started = new Map<FailureType, Started[]>();
  const begin = async (failureType: FailureType, start: () => Promise<Started>) => {
    started.set(failureType, await Promise.all(Array.from({ length: count(failureType) }, start)));
  };
  const startOne = (input: LendingJourneyInput) => harness.start(input).then((handle) => ({ handle, input }));
  const held = new Map<FailureType, HeldJourney[]>();
  const look = async (type: FailureType) => {
    held.set(type, await inTurn(started.get(type) ?? [], (one) => untilHeld(one, type)));
  };
  const hold = async (causes: typeof HELD_AT_ONCE, troubles: typeof HELD_AT_GATE) => {
    for (const [type, cause] of entries(causes)) await begin(type, () => startOne(oneStage(cause)));
    for (const [type, { profile }] of entries(troubles)) await begin(type, () => startOne(atGate(profile)));
    // All journeys wait before the first fault starts: it would hit every journey under way.
    for (const [type] of entries(causes)) await look(type);
    for (const [type] of entries(troubles)) await inTurn(started.get(type) ?? [], untilAtGate);
    for (const [type, { make }] of entries(troubles)) {
      const undo = await make(harness);
      await Promise.all((started.get(type) ?? []).map(passGate));
      await look(type).finally(undo);
    }
  };
  await begin('RequestDiffers', () => startAnew(harness));
  await look('RequestDiffers');
  started.set('AnotherNumber', await startForAnother(harness, count('AnotherNumber')));
  await look('AnotherNumber');
  await hold(HELD_AT_ONCE, HELD_AT_GATE);
  // Fixed for each run when it begins: these give up at the first failure, however slow the machine is.
  Object.assign(harness.config.protocol, { giveUpAfterMs: 1 });
  await hold(GIVEN_UP, GIVEN_UP_AT_GATE);
  return held;
}

type Started = Pick<HeldJourney, 'handle' | 'input'>;

function entries<K extends FailureType, V>(table: Partial<Record<K, V>>): [K, V][] {
  return Object.entries(table) as [K, V][];
}

function oneStage({ digits, profile }: Cause): LendingJourneyInput {
  const applicants = [applicant('1A', newSsn(digits))];
  return journeyInput({ stages: ['PREQUAL'], applicants, ...(profile === undefined ? {} : { profile }) });
}

function atGate(profile: TroubledProfile | undefined): LendingJourneyInput {
  return journeyInput({ stages: ['PREQUAL', 'PREAPP'], ...(profile === undefined ? {} : { profile }) });
}

/** The same ids twice, the second time for another customer. */
async function startForAnother(harness: Harness, count: number): Promise<Started[]> {
  const inputs = Array.from({ length: count }, () => atGate('moving'));
  for (const input of inputs) {
    const first = await harness.start(input);
    await untilAtGate({ handle: first, input });
    await first.terminate('started anew');
  }
  const undo = await changeProfile(harness, { customerId: 'OTHER' });
  const started = await Promise.all(inputs.map(async (input) => ({ handle: await harness.start(input), input })));
  await inTurn(started, (one) => untilHeld(one, 'AnotherNumber')).finally(undo);
  return started;
}

/** The same id twice, with another applicant. */
async function startAnew(harness: Harness): Promise<Started> {
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
  const first = await harness.start(input);
  await untilStatus(first, ({ state }) => state === 'waitingAtGate');
  await first.terminate('started anew');
  const other = { ...input, applicants: [applicant('1A')] };
  return { handle: await harness.start(other), input: other };
}

function untilAtGate({ handle }: Started): Promise<unknown> {
  return untilStatus(handle, ({ state }) => state === 'waitingAtGate');
}

function passGate({ handle, input }: Started): Promise<unknown> {
  return update(handle, 'advance', { journeyId: input.journeyId, to: 'PREAPP' });
}

async function untilHeld({ handle, input }: Started, failureType: FailureType): Promise<HeldJourney> {
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  const hold = holds[0] ?? assert.fail();
  assert.equal(hold.failureType, failureType);
  // The next fault may take the ledger away before the run has opened its row there.
  if (!failureType.startsWith('Ledger')) await untilIdle(handle);
  return { handle, input, hold };
}

/** One after the other: each asks again and again until it is as wanted. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const item of items) done.push(await work(item));
  return done;
}

/** The worker's activities read it at each call. */
async function changeProfile(harness: Harness, changes: Partial<GatewayProfile>): Promise<() => Promise<void>> {
  const profiles = harness.config.profiles as Map<string, GatewayProfile>;
  const own = profiles.get('moving') ?? assert.fail();
  profiles.set('moving', Object.defineProperties({ ...own }, Object.getOwnPropertyDescriptors(changes)));
  return async () => void profiles.set('moving', own);
}

/** Changes the ledger's file directly, and returns the former value. */
function setLedgerId({ config }: Harness, ledgerId: string): string {
  const database = new DatabaseSync(config.ledger.url.slice('file:'.length), { timeout: 2_000 });
  try {
    const own = database.prepare('SELECT ledger_id FROM ledger_identity').get() as { ledger_id: string };
    database.prepare('UPDATE ledger_identity SET ledger_id = ?').run(ledgerId);
    return own.ledger_id;
  } finally {
    database.close();
  }
}
