/** A client without a key sends and reads everything through a real codec server, with a token. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { CodecServerError, type CodecServerErrorCode, type CreditJourneys } from '../../src/client.ts';
import { loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import { MASKED } from '../../src/protection/redaction/redaction.ts';
import { type Server, startServer, token } from '../codec-server/fixtures.ts';
import { connectTo } from '../support/harness-client.ts';
import { applicant, consentMessage, type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

let harness: Harness;
let server: Server;
let platform: CreditJourneys;
const closing: (() => Promise<void>)[] = [];

before(async () => {
  harness = await startHarness({ env: { PAYLOAD_ENCRYPTION: 'on' } });
  closing.push(() => harness.close());
  const { config } = harness;
  const keys = await loadKeyRing(config.keyRingFile);
  server = await startServer(
    { after: (close) => void closing.unshift(close as () => Promise<void>) },
    {
      keys,
      namespaces: [config.temporal.namespace],
    },
  );
  platform = await connected(['encode', 'decode']);
});
after(async () => {
  for (const close of closing) await close();
});

function tokenOf(roles: readonly string[]): Promise<string> {
  return token({ roles: roles.map((role) => `${harness.config.temporal.namespace}:${role}`) });
}

/** Connects a client without a key and without a ledger. The harness's key ring is in another directory. */
async function connected(roles: readonly string[], url = server.endpoint): Promise<CreditJourneys> {
  const bearer = await tokenOf(roles);
  const journeys = await connectTo(harness, { codecServer: { url, readToken: async () => bearer } });
  closing.unshift(() => journeys.close());
  return journeys;
}

function isCodecServerError(code: CodecServerErrorCode) {
  return (error: unknown) => error instanceof CodecServerError && error.code === code;
}

const oneStage = (overrides = {}) => journeyInput({ stages: ['PREQUAL'], ...overrides });

describe('a client without a key', { concurrency: 4 }, () => {
  test('starts a journey, advances it, and reads its status, result and references', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
    const journey = await platform.start(input);
    assert.equal((await journey.advance({ to: 'PREAPP' })).accepted, true);
    // A failure's message is encrypted too.
    await assert.rejects(journey.advance({ to: 'PREQUAL' }), { code: 'updateRefused', reason: /no gate/ });
    const { journeyId: _, ...grant } = consentMessage('', { applicantId: '1A' });
    await journey.recordConsent(grant);
    const states: string[] = [];
    for await (const status of journey.watch()) states.push(status.state);
    assert.equal(states.at(-1), 'completed');
    const { shares } = await journey.result();
    assert.equal(shares[0]?.state, 'posted');

    const { redacted, references } = await journey.references();
    assert.equal(redacted, false);
    assert.equal(references.length, 2);

    const history = historyToJSON(
      await harness.client.workflow.getHandle(journey.workflowId, undefined).fetchHistory(),
    );
    const { ssn, emailAddress = '' } = input.applicants[0] ?? assert.fail();
    for (const secret of [ssn, emailAddress]) {
      const base64 = Buffer.from(secret).toString('base64').slice(0, -4);
      assert.ok(!history.includes(secret) && !history.includes(base64));
    }
  });

  test('reads a status, and references that are marked as masked, if its role permits masked values only', async () => {
    const desk = await connected(['encode', 'decode-redacted']);
    const input = oneStage();
    const journey = await desk.start(input);
    await journey.result();
    assert.equal((await journey.status()).state, 'completed');
    // The client cannot read the first input, so the run compares the inputs.
    assert.equal((await desk.start(input)).isNew, false);
    const other = { ...input, applicants: [{ ...applicant('1A'), emailAddress: 'other@example.com' }] };
    const problems = [{ path: '/applicants', rule: 'must be as it was started: choose another id for another input' }];
    await assert.rejects(desk.start(other), { code: 'differs', problems });
    const references = await journey.references();
    assert.equal(references.redacted, true);
    assert.equal(references.references[0]?.reference.applicants[0]?.consumerId, MASKED);
  });

  test('keeps watching until an unreachable codec server is back', async (t) => {
    const wire = await startTcpProxy({ host: '127.0.0.1', port: server.port });
    t.after(() => wire.close());
    const journeys = await connected(['encode', 'decode'], `http://127.0.0.1:${wire.port}`);
    const journey = await journeys.start(oneStage());
    wire.cut();
    await assert.rejects(journey.status(), isCodecServerError('unreachable'));
    const told: string[] = [];
    const onUnavailable = (error: Error) => {
      told.push(error.name);
      wire.heal();
    };
    const states: string[] = [];
    for await (const { state } of journey.watch({ onUnavailable })) states.push(state);
    assert.deepEqual(told, ['CodecServerError']);
    assert.equal(states.at(-1), 'completed');
  });

  test('gets an error about its missing role before it sends anything', async () => {
    const reader = await connected(['decode']);
    const input = oneStage();
    await assert.rejects(reader.start(input), isCodecServerError('roleTooLow'));
    await assert.rejects(platform.get(input.journeyId).status(), { code: 'notFound' });
    const journey = await platform.start(input);
    await journey.result();
    assert.equal((await reader.get(input.journeyId).status()).state, 'completed');
    const writer = await connected(['encode']);
    await assert.rejects(writer.get(input.journeyId).status(), isCodecServerError('roleTooLow'));
  });

  test('cannot read a status without the codec server', async () => {
    await using keyless = await connectTo(harness);
    const journey = await platform.start(oneStage());
    await journey.result();
    await assert.rejects(keyless.get(journey.journeyId).status(), { code: 'answerUnreadable' });
  });
});
