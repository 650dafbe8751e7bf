/** Waiting runs refuse the invalid updates of a storm, and the history has no event of them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { toRunKey } from '../../src/model/run-key.ts';
import { untilIdle } from '../hazards/operator-hands.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
} from '../support/journey-harness.ts';
import { firstHold, reportPull, startPull } from '../support/pull-scenarios.ts';
import { shareInput, startShare, untilShareIs } from '../support/share-scenarios.ts';
import { isRefusal } from './people.ts';
import { refusedUpdatesTo } from './refused-updates.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness?.close());

async function restingJourney(state: string, input: Parameters<typeof journeyInput>[0]): Promise<Resting> {
  const wanted = journeyInput(input);
  const handle = await harness.start(wanted);
  await untilStatus(handle, (status) => status.state === state);
  return { handle, runKey: wanted.journeyId };
}

interface Resting {
  handle: JourneyHandle;
  runKey: string;
}

const SHARES = [{ shareId: 'S1', endUserCode: 'EU901' }];

const RESTING: Record<string, () => Promise<Resting>> = {
  'a journey at a gate': () => restingJourney('waitingAtGate', { stages: ['PREQUAL', 'PREAPP'] }),
  'a journey that waits for consent': () =>
    restingJourney('waitingForConsent', { stages: ['PREQUAL'], shares: SHARES }),
  'a journey on hold': () =>
    restingJourney('held', { stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] }),
  'a pull on hold': async () => {
    const pull = reportPull('4002');
    const handle = await startPull(harness, pull);
    await firstHold(handle);
    return { handle, runKey: toRunKey('pull', pull.pullId) };
  },
  'a share by itself that waits for consent': async () => {
    const pull = reportPull('0001');
    await (await startPull(harness, pull)).result();
    const input = shareInput({ pullId: pull.pullId, productCode: 'CR' });
    const handle = await startShare(harness, input);
    await untilShareIs(handle, 'waitingForConsent');
    return { handle, runKey: toRunKey('share', input.shareId) };
  },
};

describe('each invalid update leaves no event', { concurrency: 3 }, () => {
  for (const [name, begin] of Object.entries(RESTING)) {
    test(`when it is refused by ${name}`, async () => {
      const { handle, runKey } = await begin();
      // The run opens the row of its hold after it shows the hold.
      await untilIdle(handle);
      const lengthOf = async () => (await handle.describe()).historyLength;
      const before = await lengthOf();
      for (const [update, content] of refusedUpdatesTo(runKey)) {
        const sent = handle.executeUpdate(update, { args: [content] });
        await assert.rejects(sent, isRefusal, `${update} ${JSON.stringify(content)}`);
      }
      assert.equal(await lengthOf(), before);
      await handle.terminate();
    });
  }
});
