/**
 * Handles the messages to a journey. Validators are synchronous and refuse without a trace in the history. Signal
 * handlers never throw and never wait: a refusal is noted and shown in `status`.
 */

import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { RunActivities } from '../../activities/index.ts';
import type { AdvanceMessage } from '../../messages/advance.ts';
import type { RequestShareMessage } from '../../messages/request-share.ts';
import { type MessageRefusal, type RefusalCause, refuse, refuseDifference } from '../../model/refusals.ts';
import { listOwnUsers, OWN_END_USER } from '../../model/stage-end-user.ts';
import { handleConsents } from '../consent/consents.ts';
import type { ShareRecord } from '../consent/share-record.ts';
import { answerWithdrawal, checkReportWithdrawal } from '../machine/share-posting.ts';
import { callActivity, runActivities } from '../run/activity-stubs.ts';
import { readInputProblems } from '../run/failures.ts';
import { createRefusal, handleUpdate, refuseFor, toAccepted } from '../run/message-answers.ts';
import { handleExtensions, type RunDecisionEffect, takeExtension } from '../run/run-decisions.ts';
import { handleWithdrawals } from '../run/run-workflow.ts';
import { checkAdvance, checkPassGate, findKnownRepeat, findNewDecisions, takeAdvance } from './advances.ts';
import type { Journey } from './journey.ts';

export function handleMessages(journey: Journey): void {
  handleGates(journey);
  handleExtensions(journey);
  handleShares(journey);
  handleConsents(journey);
  handleWithdrawals(journey);
}

/** A cancelled journey only lets its attempts in flight end. */
function refuseIfCancelled(): MessageRefusal | null {
  return CancellationScope.current().consideredCancelled ? refuse('ending', 'the journey is cancelled') : null;
}

function handleGates(journey: Journey): void {
  handleUpdate(journey, 'advance', {
    check: (message) => refuseIfCancelled() ?? checkAdvance(journey, message),
    answer: async (message) => {
      const receivedAt = new Date().toISOString();
      const { profile } = journey;
      const { applicants } = message;
      // The gate may have expired during a check.
      const checkAgain = () => refuseFor(checkAdvance(journey, message));
      if ('repeat' in message && !findKnownRepeat(journey, message)) {
        const { repeat, occurrence } = message;
        const summary = `checking who wants ${repeat} again, as ${occurrence}`;
        await checkMessage(journey, 'unproven', 'checkRepeatProof', summary, { profile, message, receivedAt });
        checkAgain();
      }
      if (applicants) {
        const summary = 'checking the new applicants';
        await checkMessage(journey, 'invalidInput', 'checkApplicants', summary, { profile, applicants });
        checkAgain();
      }
      const decisions = 'repeat' in message ? [] : findNewDecisions(journey, message, receivedAt);
      if (!('repeat' in message) && decisions.length > 0) {
        return journey.decided.answer({ decisions, effect: { update: 'advance', message, receivedAt } });
      }
      const isNew = takeAnyAdvance(journey, message, receivedAt);
      const isRecorded = 'to' in message && (message.skip ?? message.acceptAge) !== undefined;
      return { ...toAccepted(journey, !isNew), ...(isRecorded ? { recorded: true } : {}) };
    },
  });
}

function takeAnyAdvance(journey: Journey, message: AdvanceMessage, receivedAt: string): boolean {
  return journey.lookUpIfNew(() => takeAdvance(journey, message, receivedAt));
}

/** Applies a decision that the ledger has by now; returns why the run no longer can, or `null`. */
export function takeDecided(journey: Journey, effect: RunDecisionEffect): MessageRefusal | null {
  if (effect.update === 'extend') return takeExtension(journey, effect.message);
  const refusal = checkPassGate(journey, effect.message);
  if (refusal === null) takeAnyAdvance(journey, effect.message, effect.receivedAt);
  return refusal;
}

function handleShares(journey: Journey): void {
  handleUpdate(journey, 'requestShare', {
    check: (message) => refuseIfCancelled() ?? checkShareRequest(journey, message),
    answer: async (message) => {
      const { share } = message;
      if (!journey.shares.has(share.shareId)) {
        const { SECONDUSE: journeyPurposeCode } = journey.input.permissiblePurposeCodes ?? {};
        const args = { profile: journey.profile, message, journeyPurposeCode };
        await checkMessage(journey, 'notNow', 'checkShare', `checking share ${share.shareId}`, args);
        // During the check, the journey may have ended, or received the same share or another one under its id.
        refuseFor(checkShareRequest(journey, message));
      }
      return toAccepted(journey, !journey.takeShare(share));
    },
  });
  handleUpdate(journey, 'withdrawShare', {
    check: (message) => {
      const share = journey.shares.get(message.shareId);
      if (!share) return refuse('unknownPart', '/shareId names no share of this journey');
      return checkReportWithdrawal(share, message);
    },
    answer: (message) => answerWithdrawal(journey, journey.shares.get(message.shareId) as ShareRecord, message),
  });
}

const MAX_SHARES = 20;

/** Returns why the share makes no sense now, or `null`; also `null` if it is already known. */
export function checkShareRequest(journey: Journey, { share }: RequestShareMessage): MessageRefusal | null {
  const known = journey.shares.get(share.shareId);
  if (known) return refuseDifference('/share/shareId was used', { share: known.input }, { share });
  if (journey.isEnding || journey.state.isClosing) {
    return refuse('ending', 'the journey is ending: its report can be shared by itself after the end');
  }
  if (journey.shares.size >= MAX_SHARES) return refuse('notNow', `a journey has at most ${MAX_SHARES} shares`);
  const stages = journey.stages.map(({ status }) => status.productCode);
  if (
    share.endUserCode !== undefined &&
    listOwnUsers(journey.input, share.reportOf, stages).includes(share.endUserCode)
  ) {
    return refuse('notNow', `/share/endUserCode ${OWN_END_USER}`);
  }
  if (share.reportOf !== undefined && !journey.stage(share.reportOf)) {
    return refuse('unknownPart', '/share/reportOf names a stage that this journey leaves out');
  }
  if (share.permissiblePurposeCode === undefined && !journey.input.permissiblePurposeCodes?.SECONDUSE) {
    return refuse('notNow', '/share/permissiblePurposeCode is required: the journey has none for SECONDUSE');
  }
  return null;
}

/**
 * Limits the checks of a message while no worker has the profile, or the keys. The server takes ten updates of a run at
 * once: those that wait for a check must not keep a withdrawal or a decision out.
 */
const CHECK_WITHIN = '20 seconds';
const UNCHECKED = refuse('notNow', 'no worker could check it in time: send it again later');

/**
 * Asks an activity whether the message is valid: a validator cannot. The journey does not close meanwhile.
 *
 * @param cause of the refusal that an `InvalidInput` becomes
 */
async function checkMessage<Name extends 'checkApplicants' | 'checkRepeatProof' | 'checkShare'>(
  journey: Journey,
  cause: RefusalCause,
  name: Name,
  summary: string,
  args: Parameters<RunActivities[Name]>[0],
): Promise<void> {
  journey.checksOfMessages++;
  try {
    const options = { summary, scheduleToCloseTimeout: CHECK_WITHIN } as const;
    await callActivity<RunActivities, Name>(runActivities, name, options, args);
  } catch (error) {
    const problems = readInputProblems(error);
    if (!problems) throw isCancellation(error) ? error : createRefusal(UNCHECKED);
    throw createRefusal(refuse(cause, problems.map(({ path, rule }) => `${path} ${rule}`).join('; ')));
  } finally {
    journey.checksOfMessages--;
  }
}
