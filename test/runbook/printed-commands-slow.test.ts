/** One hold of each kind, and what an operator does about it: reads it everywhere, pastes the printed command, answers. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { freePorts } from '../../src/local/free-ports.ts';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { FAILURE_TYPES, FAILURES, type FailureType, type HoldAction } from '../../src/model/failure-types.ts';
import type { ProviderSaid } from '../../src/model/provider-word.ts';
import { toRunbookPage } from '../../src/words/holds.ts';
import { environmentOf } from '../cli/command-stage.ts';
import { runInTerminal } from '../cli/run-in-terminal.ts';
import { type Harness, startHarness, untilStatus } from '../support/journey-harness.ts';
import { type HeldJourney, holdJourneys } from './held-journeys.ts';
import { portOf, speaksNoTls, troubledProfiles } from './troubled-profiles.ts';

interface Decided {
  action: HoldAction;
  providerSaid: ProviderSaid;
  /** `held`: once more, since its cause is still there. `stopped`: it was answered without a record. */
  leadsTo: 'completed' | 'stopped' | 'waitingAtGate' | 'abandoned' | 'held';
  /** Why it is held then; default: as before. */
  next?: FailureType;
}

const GOES_ON: Decided = { action: 'resend', providerSaid: 'notAsked', leadsTo: 'completed' };
const HELD_AGAIN: Decided = { ...GOES_ON, leadsTo: 'held' };
const GIVEN_UP: Decided = { action: 'abandon', providerSaid: 'notAsked', leadsTo: 'abandoned' };
const ANSWERED: Decided = { action: 'accept', providerSaid: 'posted', leadsTo: 'stopped' };

/** A pause never becomes a hold. A late answer takes a worker that stood still: test/hazards/answered-late.test.ts. */
type Kind = Exclude<FailureType, 'Paused' | 'AnsweredLate'>;
const KINDS = FAILURE_TYPES.filter((type): type is Kind => type !== 'Paused' && type !== 'AnsweredLate');

const DECISIONS: Record<Kind, Decided> = {
  TokenUnavailable: HELD_AGAIN,
  CredentialsRefused: HELD_AGAIN,
  LedgerUnavailable: GOES_ON,
  GatewayUnreachable: GIVEN_UP,
  GatewayUntrusted: HELD_AGAIN,
  TokenRejected: GIVEN_UP,
  Throttled: HELD_AGAIN,
  NotEntitled: HELD_AGAIN,
  RequestRefused: GIVEN_UP,
  OutcomeUnknown: { ...GOES_ON, providerSaid: 'notPosted' },
  UnexpectedResponse: ANSWERED,
  ReturnCodeUnknown: ANSWERED,
  ProfileChanged: GOES_ON,
  RequestDiffers: { action: 'amend', providerSaid: 'notAsked', leadsTo: 'waitingAtGate' },
  // By now the profile has the former customer again.
  AnotherNumber: { ...HELD_AGAIN, next: 'ProfileChanged' },
  LedgerChanged: GOES_ON,
  LedgerRestored: GOES_ON,
  InvalidInput: GOES_ON,
  ActivityFailed: GOES_ON,
};

let harness: Harness;
let plain: Server;
let directory: string;
let env: Record<string, string>;
let held: Map<FailureType, HeldJourney[]>;
/** The output of `holds` on a terminal, with each command in one line. */
let screen: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-printed-'));
  plain = await speaksNoTls();
  const [deadPort = 0] = await freePorts(1);
  const [deadUrl, plainUrl] = [`http://127.0.0.1:${deadPort}`, `http://127.0.0.1:${portOf(plain)}`];
  const profiles = join(directory, 'profiles.json');
  await writeFile(profiles, JSON.stringify(troubledProfiles({ deadUrl, plainUrl })));
  harness = await startHarness({ env: { GATEWAY_PROFILES_FILE: profiles } });
  held = await holdJourneys(harness, () => 1);
  env = environmentOf(harness);
  screen = await listHolds();
});
after(async () => {
  await harness?.close();
  plain?.close();
  await rm(directory, { recursive: true, force: true });
});

async function listHolds(): Promise<string> {
  const { code, screen: shown } = await runInTerminal(['holds'], [], env);
  assert.equal(code, 3, shown);
  return shown.replaceAll(/ \\\n\s*/g, ' ');
}

describe('status, work list and run details describe a hold in the same words, and the printed command resolves it:', {
  concurrency: 2,
}, () => {
  for (const kind of KINDS) {
    test(kind, async () => {
      const { handle, input, hold } = held.get(kind)?.[0] ?? assert.fail();
      const { journeyId } = input;
      const { action, providerSaid, leadsTo, next = kind } = DECISIONS[kind];
      assert.deepEqual(hold.allowedActions, FAILURES[kind].actions);

      const command = `npx credit-journey resolve ${journeyId} ${hold.customerTraceNumber} --attempt ${hold.attempts}`;
      // While its ledger is unreachable, a run cannot write a row: only its status shows the hold.
      const isRow = screen.includes(`\n    ${command}\n`);
      if (!isRow) assert.match(kind, /^Ledger/, screen);
      const status = await runInTerminal(['status', journeyId], [], env);
      assert.equal(status.code, 3, status.screen);
      assert.ok(status.screen.includes(` · ${kind} · `) || status.screen.includes(` · ${kind},`), status.screen);
      assert.ok(status.screen.replaceAll(/ \\\n\s*/g, ' ').includes(`    ${command}\n`), status.screen);
      const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      assert.ok(currentDetails.includes(` · ${kind} · `), currentDetails);
      assert.ok(currentDetails.includes(toRunbookPage(kind)), currentDetails);
      for (const text of [screen, status.screen, currentDetails]) {
        for (const { ssn, emailAddress } of input.applicants) {
          assert.ok(!text.includes(ssn) && !text.includes(emailAddress), 'personal data');
        }
      }

      const answers: [RegExp, string][] = [
        [/What may be decided:[\s\S]*Number or word: /, action],
        ...(action === 'accept'
          ? [[/The outcome, as the provider gives it:[\s\S]*Number or word: /, 'noReport'] as [RegExp, string]]
          : []),
        [/What the provider says[\s\S]*Number or word: /, providerSaid],
        [/Who decides.*: /, 'ops'],
        [/Why: /, 'a trial'],
        [/Decide \w+\? \[y\/N\] /, 'y'],
      ];
      const [, , ...pasted] = command.split(' ');
      const ran = await runInTerminal(pasted, answers, env);
      assert.equal(ran.code, 0, ran.screen);
      assert.ok(ran.screen.includes(toRunbookPage(kind)), ran.screen);
      assert.match(ran.screen, /decided, as D-/);

      const isThere = ({ state, holds }: JourneyStatus) =>
        state === leadsTo && holds.every(({ since }) => since !== hold.since);
      const after = await untilStatus(handle, isThere);
      assert.deepEqual(
        after.holds.map(({ failureType }) => failureType),
        leadsTo === 'held' ? [next] : [],
      );
    });
  }
});
