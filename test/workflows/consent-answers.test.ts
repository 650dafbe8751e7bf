/** Checks each row of docs/shares.md, "What an answer says": during the journey, after it, and without a run. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { RecordedConsent, Stands } from '../../src/messages/journey/shapes.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness?.close());

const PAGE = readFileSync(new URL('../../docs/shares.md', import.meta.url), 'utf8');
const ROWS = (PAGE.split('## What an answer says')[1]?.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => /^\| (nothing|grant|deny)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, said = '', then = '', stands = '', changed]) => ({ said, then, stands, changed: changed === 'yes' }));

const DECISIONS = { grant: 'granted', deny: 'denied', revoke: 'revoked' } as const;
const HOUR_AGO = Date.now() - 3_600_000;

/** Parses `grant C-1 at 1` to a message. */
function messageOf(words: string, journeyId: string): ConsentMessage {
  const [, verb, consentId = '', minute] = /^(grant|deny|revoke) (\S+) at (\d)$/.exec(words) ?? [];
  const decision = DECISIONS[verb as keyof typeof DECISIONS];
  const decidedAt = new Date(HOUR_AGO + Number(minute) * 60_000).toISOString();
  const { evidence, ...message } = consentMessage(journeyId, { applicantId: '1A', consentId, decision, decidedAt });
  return decision === 'granted' && evidence
    ? { ...message, evidence: { ...evidence, capturedAt: decidedAt } }
    : message;
}

type Say = (message: ConsentMessage) => Promise<Stands | undefined>;

async function sayLate(consent: ConsentMessage): Promise<Stands> {
  const recorded: RecordedConsent = await harness.client.workflow.execute('recordLateConsent', {
    workflowId: `late-consent-${randomUUID()}`,
    taskQueue: harness.config.taskQueue,
    args: [{ consent }],
  });
  return recorded.stands;
}

/** Starts a journey whose share waits for another applicant throughout the test. */
async function startWaiting(journeyId: string) {
  const share = { shareId: 'S1', endUserCode: 'EU999' };
  const applicants = [applicant('1A'), applicant('2A')];
  const more = { journeyId, stages: ['PREQUAL' as const], applicants, shares: [share], sharesOpenFor: 'P1D' };
  const handle = await harness.start(journeyInput(more));
  await untilStatus(handle, ({ shares }) => shares[0]?.state === 'awaitingConsent' && shares[0].until !== undefined);
  return handle;
}

const STATES: Record<string, (journeyId: string) => Promise<Say>> = {
  'while the journey runs': async (journeyId) => {
    const handle = await startWaiting(journeyId);
    return async (message) => (await update(handle, 'recordConsent', message)).stands;
  },
  'after the journey’s end': async (journeyId) => {
    const handle = await startWaiting(journeyId);
    await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
    await handle.result();
    return sayLate;
  },
  'without any run': async () => sayLate,
};

test('the table of answers has at least ten rows', () => assert.ok(ROWS.length >= 10));

for (const [state, begin] of Object.entries(STATES)) {
  describe(`an answer to a consent ${state}`, { concurrency: 3 }, () => {
    for (const { said, then, stands, changed } of ROWS) {
      test(`says ${stands} for ${then}, after ${said}`, async () => {
        const journeyId = `T-${randomUUID().slice(0, 13)}`;
        const say = await begin(journeyId);
        for (const words of said === 'nothing' ? [] : said.split(', ')) await say(messageOf(words, journeyId));
        const answer = await say(messageOf(then, journeyId));
        assert.deepEqual([`${answer?.decision}, ${answer?.consentId}`, answer?.changed], [stands, changed]);
      });
    }
  });
}
