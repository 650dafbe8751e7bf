/** Journeys whose waits are moved: an extended gate and share, a skipped stage. */
import { consentMessage, journeyInput, untilStatus, update } from './journey-harness.ts';
import type { Scenario } from './scenarios.ts';

const MS_PER_DAY = 24 * 60 * 60 * 1000;
const who = { by: 'underwriting', reason: 'the appraisal is late' };

/** Extends the waits of a gate and a share, and skips PREAPP. PRECLOSE has another end user. */
const extendedAndSkipped: Scenario = {
  name: 'lendingJourney-extendedAndSkipped',
  async play(harness) {
    const input = journeyInput({
      endUserCodes: { PRECLOSE: 'EU200' },
      shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
    });
    const { journeyId } = input;
    const until = new Date(Date.now() + 60 * MS_PER_DAY).toISOString();
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    await update(handle, 'extend', { journeyId, gate: 'PREAPP', until, ...who });
    await update(handle, 'advance', { journeyId, to: 'PRECLOSE', skip: 'PREAPP', ...who });
    await untilStatus(handle, ({ shares: [share] }) => share?.until !== undefined);
    await update(handle, 'extend', { journeyId, shareId: 'S1', until, ...who });
    await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
    await handle.result();
    return handle;
  },
};

export const TIME_SCENARIOS = { extendedAndSkipped };
