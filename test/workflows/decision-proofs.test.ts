/** Decisions that need a proof, sent as real updates and counted at the gateway; one worker for all tests. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { generateKeyPair, SignJWT } from 'jose';
import { hasCode } from '../../src/client/connection/errors.ts';
import { type Content, decisionContent } from '../../src/client.ts';
import type { InquiryView } from '../../src/ledger/records.ts';
import type { HoldStatus } from '../../src/messages/journey/shapes.ts';
import { decideInLedger } from '../../src/operator/decide.ts';
import type { LedgerJourneys } from '../../src/operator/ledger-journeys.ts';
import { withLedger } from '../hazards/operator-hands.ts';
import { provenDecision, provenRepeat } from '../support/decision-proofs.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';

const MISSING = '/proof is required: the profile accepts a decision only with a proof (decisionTrust)';
const REFUSED = '/proof is refused: ';

let harness: Harness;
let journeys: LedgerJourneys;
let directory: string;
/** The variables that this process had before, since it runs other files too. */
const ownVariables = new Map<string, string | undefined>();

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-decisions-'));
  harness = await startHarness({ proving: true, env: { PORTFOLIO_DIR: directory } });
  const { config, dataDir } = harness;
  // A program beside the ledger has the same environment as the worker.
  for (const [name, file] of Object.entries({
    GATEWAY_PROFILES_FILE: join(dataDir, 'profiles.json'),
    CONSENT_JWKS_FILE: config.consentKeysFile,
    DECISION_JWKS_FILE: config.decisionKeysFile,
  })) {
    ownVariables.set(name, process.env[name]);
    process.env[name] = file;
  }
  journeys = await connectTo(harness, { openLedger: () => openLedgerOf(harness) });
});

after(async () => {
  for (const [name, value] of ownVariables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await journeys?.close();
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

function inLedger(runKey: string): Promise<InquiryView[]> {
  return withLedger(harness, (ledger) => ledger.inquiriesOf(runKey));
}

/** Reads who decided what, and with which key, about the run's inquiries. */
async function decided(runKey: string): Promise<(string | undefined)[][]> {
  const inquiries = await inLedger(runKey);
  return inquiries.flatMap(({ decisions }) => decisions.map(({ action, by, provenBy }) => [action, by, provenBy]));
}

async function sentFor(runKey: string): Promise<number> {
  const inquiries = await inLedger(runKey);
  return inquiries.flatMap(({ attempts }) => attempts).length;
}

type Message = Content<'journey', 'resolveInquiry'>;

/** Makes a decision to resend. */
function resendOf(
  { customerTraceNumber, attempts }: Pick<HoldStatus, 'customerTraceNumber' | 'attempts'>,
  change: object = {},
): Message {
  return {
    ...{ decisionId: 'D-1', customerTraceNumber, attempt: attempts, action: 'resend' },
    ...{ by: 'operator', reason: 'asked the provider', providerSaid: 'notPosted' },
    ...change,
  };
}

/** Starts a journey whose inquiry is held because its request was lost before the posting. */
async function heldJourney(
  profile = 'deciding',
): Promise<{ handle: JourneyHandle; journeyId: string; hold: HoldStatus }> {
  const input = journeyInput({ profile, stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4001'))] });
  const handle = await harness.start(input);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  return { handle, journeyId: input.journeyId, hold: holds[0] ?? assert.fail() };
}

/** Signs with a key of its own, with all that a caller with access to the namespace can read. */
async function forged(message: Message): Promise<Message & { proof: string }> {
  const { privateKey } = await generateKeyPair('ES256');
  const payload = { decision: decisionContent('sandbox', message), iat: 1, exp: 9_999_999_999 };
  const proof = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'decisions' }).sign(privateKey);
  return { ...message, proof };
}

/** Makes each invalid proof, with the reason of its refusal. */
async function badProofs(message: Message): Promise<[object, string][]> {
  const past = Math.floor(Date.now() / 1000) - 3_600;
  return [
    [message, MISSING],
    [await forged(message), `${REFUSED}badSignature`],
    [await provenDecision(message, { attempt: message.attempt + 1 }), `${REFUSED}differs in attempt`],
    [await provenDecision(message, { customerTraceNumber: 'PQOTHER' }), `${REFUSED}differs in customerTraceNumber`],
    [await provenDecision(message, { by: 'another' }), `${REFUSED}differs in by`],
    [await provenDecision(message, {}, { exp: past }), `${REFUSED}expired`],
  ];
}

const reasonOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(() => assert.fail('it was taken')).catch((thrown) => thrown);
  assert.ok(hasCode(error, 'updateRefused', 'decisionRefused'), String(error));
  return error.reason;
};

describe('a decision in a namespace where decisions need a proof', { concurrency: 4 }, () => {
  test('is refused for a journey without a valid proof, and nothing is recorded or sent', async () => {
    const { handle, journeyId, hold } = await heldJourney();
    const message = resendOf(hold);
    const resolve = (one: object) => update(handle, 'resolveInquiry', { journeyId, ...one });
    for (const [bad, reason] of await badProofs(message)) assert.equal(await refusalOf(resolve(bad)), reason);
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    assert.equal(holds[0]?.refusedDecision?.reason, `${REFUSED}expired`);
    assert.deepEqual(await decided(journeyId), []);
    assert.equal(await sentFor(journeyId), 1);

    assert.equal((await resolve(await provenDecision(message))).duplicate, false);
    await handle.result();
    assert.deepEqual(await decided(journeyId), [['resend', 'operator', 'decisions']]);
    assert.equal(await sentFor(journeyId), 2);
  });

  test('is a duplicate with a newer proof, and refused with other content under its id', async () => {
    const { handle, journeyId, hold } = await heldJourney();
    const message = resendOf(hold, { action: 'abandon' });
    const answers = await Promise.allSettled([
      journeys.get(journeyId).resolveInquiry(await provenDecision(message)),
      journeys.get(journeyId).resolveInquiry(await provenDecision(message, {}, { iat: 1 })),
    ]);
    const duplicates = answers.map((answer) =>
      answer.status === 'fulfilled' ? answer.value.duplicate : answer.reason,
    );
    assert.deepEqual(duplicates.sort(), [false, true]);
    await handle.result();
    assert.deepEqual(await decided(journeyId), [['abandon', 'operator', 'decisions']]);
  });

  test('is refused if an amendment’s applicants or an accepted answer’s reference differ from the proof', async () => {
    const input = journeyInput({
      ...{ profile: 'deciding', stages: ['PREQUAL'] },
      applicants: [applicant('1A', newSsn('1400'))],
    });
    const { journeyId } = input;
    const handle = await harness.start(input);
    const resolve = (one: object) => update(handle, 'resolveInquiry', { journeyId, ...one });
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    const amended = resendOf(holds[0] ?? assert.fail(), {
      action: 'amend',
      applicants: [applicant('1A', newSsn('4001'))],
    });
    const others = [applicant('1A')];
    assert.equal(
      await refusalOf(resolve({ ...(await provenDecision(amended)), applicants: others })),
      `${REFUSED}differs in contentDigest`,
    );
    await resolve(await provenDecision(amended));
    const again = await untilStatus(handle, ({ holds: [one] }) => one?.failureType === 'OutcomeUnknown');
    const reference = {
      reportReferenceNumber: `R${randomUUID().slice(0, 12)}`,
      requestedAt: new Date().toISOString(),
      applicants: [{ applicantId: '1A', consumerId: `C${randomUUID().slice(0, 8)}` }],
    };
    const accepted = resendOf(again.holds[0] ?? assert.fail(), {
      ...{ decisionId: 'D-2', action: 'accept', outcome: 'record', providerSaid: 'posted', reference },
    });
    const anothers = { ...reference, applicants: [{ applicantId: '1A', consumerId: 'C-ANOTHER' }] };
    assert.equal(
      await refusalOf(resolve({ ...(await provenDecision(accepted)), reference: anothers })),
      `${REFUSED}differs in contentDigest`,
    );
    await resolve(await provenDecision(accepted));
    const { stages } = await handle.result();
    assert.deepEqual(stages[0]?.reference, reference);
    assert.deepEqual(await decided(journeyId), [
      ['amend', 'operator', 'decisions'],
      ['accept', 'operator', 'decisions'],
    ]);
  });

  test('needs a proof also as a repeat', async () => {
    const input = journeyInput({ profile: 'deciding', stages: ['PREQUAL'], repeatsOpenFor: 'P1D' });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ stages }) => stages[0]?.state === 'record');
    const repeat = { journeyId, repeat: 'PREQUAL', occurrence: 2, by: 'operator', reason: 'too old' } as const;
    const advance = (message: object) => update(handle, 'advance', message);
    assert.equal(await refusalOf(advance(repeat)), MISSING);
    const another = await provenRepeat({ ...repeat, reason: 'another' });
    assert.equal(await refusalOf(advance({ ...repeat, proof: another.proof })), `${REFUSED}differs in reason`);
    const withOthers = { ...(await provenRepeat(repeat)), applicants: [applicant('1A')] };
    assert.equal(await refusalOf(advance(withOthers)), `${REFUSED}differs in contentDigest`);
    assert.equal((await harness.posted(handle)).length, 1);

    await advance(await provenRepeat(repeat));
    assert.equal((await advance(await provenRepeat(repeat))).duplicate, true);
    await untilStatus(handle, ({ stages }) => stages[1]?.state === 'record');
    assert.equal((await harness.posted(handle)).length, 2);
    assert.deepEqual(await decided(journeyId), [['repeat', 'operator', 'decisions']]);
    await handle.terminate();
  });

  test('needs a proof also for an inquiry whose run has been terminated', async () => {
    const { handle, journeyId, hold } = await heldJourney();
    await handle.terminate('gone');
    const message = resendOf(hold);
    for (const [bad, reason] of await badProofs(message)) {
      assert.equal(await reasonOf(decideInLedger(journeys, bad as Message)), reason);
    }
    assert.deepEqual(await decided(journeyId), []);
    const proven = await provenDecision(message);
    assert.equal((await decideInLedger(journeys, proven)).duplicate, false);
    assert.equal((await decideInLedger(journeys, await provenDecision(message))).duplicate, true);
    assert.deepEqual(await decided(journeyId), [['resend', 'operator', 'decisions']]);
  });
});

describe('a decision in a namespace that needs no proofs', () => {
  test('is accepted without a proof and recorded as such, and refused with an invalid one', async () => {
    const { handle, journeyId, hold } = await heldJourney('default');
    const message = { journeyId, ...resendOf(hold) };
    assert.equal(
      await refusalOf(update(handle, 'resolveInquiry', await provenDecision(message, { attempt: 2 }))),
      `${REFUSED}differs in attempt`,
    );
    await update(handle, 'resolveInquiry', message);
    await handle.result();
    assert.deepEqual(await decided(journeyId), [['resend', 'operator', undefined]]);
  });
});

test('a decision that arrives while the keys are unreadable waits, and is recorded when they are readable again', async () => {
  const file = harness.config.decisionKeysFile ?? '';
  const keys = await readFile(file);
  const { handle, journeyId, hold } = await heldJourney();
  await writeFile(file, '{');
  const message = { journeyId, ...(await provenDecision(resendOf(hold))) };
  assert.equal((await update(handle, 'resolveInquiry', message)).recorded, false);
  assert.deepEqual(await decided(journeyId), []);
  assert.equal(await sentFor(journeyId), 1);
  await writeFile(file, keys);
  await handle.result();
  assert.deepEqual(await decided(journeyId), [['resend', 'operator', 'decisions']]);
});
