/** Journeys whose waits and dates are moved: an extended gate and share, a skipped stage, PRECLOSE by the closing date. */
import { addDays } from '../../src/base/local-days.ts';
import { consentMessage, journeyInput, untilStatus, update } from './journey-harness.ts';
import type { Scenario } from './scenarios.ts';

const MS_PER_DAY = 24 * 60 * 60 * 1000;
const who = { by: 'underwriting', reason: 'the appraisal is late' };

function inDays(days: number): string {
  return addDays(new Date().toISOString().slice(0, 10), days);
}

/** The gate before PREAPP waits longer, PREAPP is skipped, and PRECLOSE has another end user; the share waits longer too. */
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

/** The date is far away, and then tomorrow. */
const byClosingDate: Scenario = {
  name: 'lendingJourney-byClosingDate',
  async play(harness) {
    const input = journeyInput({
      ...{ stages: ['PREQUAL', 'PRECLOSE'], closingDate: inDays(40), attentionAbove: { newAccounts: 0 } },
      preclose: { daysBefore: 3, by: 'credit policy', reason: 'reports of the last days' },
    });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    await update(handle, 'setClosingDate', { journeyId, closingDate: inDays(20), change: 1, ...who });
    await update(handle, 'setClosingDate', { journeyId, closingDate: inDays(1), change: 2, ...who });
    await untilStatus(handle, ({ stages }) => stages[1]?.state === 'record');
    await update(handle, 'withdraw', { journeyId, ...who });
    await handle.result();
    return handle;
  },
};

export const TIME_SCENARIOS = { extendedAndSkipped, byClosingDate };
