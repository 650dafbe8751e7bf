/**
 * Handles the messages to a journey. Validators are synchronous and refuse without a trace in the history. Signal
 * handlers never throw and never wait: a refusal is noted and shown in `status`.
 */

import { omitUndefined } from '../../base/defined.ts';
import { type AdvanceMessage, advance } from '../../messages/advance.ts';
import { QUERIES } from '../../messages/all-messages.ts';
import { consent } from '../../messages/consent.ts';
import { type ExtendMessage, extend } from '../../messages/extend.ts';
import { requestShare } from '../../messages/request-share.ts';
import { resolveInquiry } from '../../messages/resolve-inquiry.ts';
import { withdrawJourney, withdrawShare } from '../../messages/withdraw.ts';
import { type MessageRefusal, refuse } from '../../model/refusals.ts';
import { handleConsents } from '../consent/consents.ts';
import { answerWithdrawal, checkReportWithdrawal } from '../machine/share-withdrawal.ts';
import {
  handleQueries,
  handleUnknownSignals,
  handleUpdate,
  refuseFor,
  toAccepted,
} from '../run/messages/message-answers.ts';
import {
  checkApplicants,
  checkRepeatProof,
  checkShare,
  handleDecisions,
  handleWithdrawals,
} from '../run/messages/run-messages.ts';
import { handleExtensions, type RunDecisionEffect, takeRecordedExtension } from '../run/run-decisions.ts';
import { checkAdvance, checkPassGate, findKnownRepeat, findNewDecisions, takeAdvance } from './advances.ts';
import type { Journey } from './journey.ts';
import { checkShareRequest, requireShare } from './share-requests.ts';

export function handleMessages(journey: Journey): void {
  handleGates(journey);
  handleExtensions(journey, extend, ({ journeyId: _, ...message }: ExtendMessage) => message);
  handleShares(journey);
  handleConsents(journey, consent);
  handleWithdrawals(journey, withdrawJourney, () =>
    journey.stageWasAbandoned ? refuse('ending', 'the journey is ending already') : null,
  );
  handleDecisions(journey, resolveInquiry);
  handleQueries(journey, QUERIES.journey);
  handleUnknownSignals(journey);
  journey.decided.begin(journey, (effect) => takeDecided(journey, effect));
  journey.consents.begin();
}

function handleGates(journey: Journey): void {
  handleUpdate(journey, advance, 'advance', {
    objection: (message) => checkAdvance(journey, message),
    answer: async (message) => {
      const receivedAt = new Date().toISOString();
      const { profile } = journey;
      if ('repeat' in message && !findKnownRepeat(journey, message)) {
        await journey.keepOpenFor(checkRepeatProof({ profile, message, receivedAt }));
        refuseFor(checkAdvance(journey, message));
      }
      if (message.applicants) {
        await journey.keepOpenFor(checkApplicants({ profile, applicants: message.applicants }));
        // The gate may have expired during the check of the applicants.
        refuseFor(checkAdvance(journey, message));
      }
      const decisions = 'repeat' in message ? [] : findNewDecisions(journey, message, receivedAt);
      if (!('repeat' in message) && decisions.length > 0) {
        return journey.decided.answer(journey, { decisions, effect: { update: 'advance', message, receivedAt } });
      }
      const isNew = takeAnyAdvance(journey, message, receivedAt);
      const isRecorded = 'to' in message && (message.skip ?? message.acceptAge) !== undefined;
      return { ...toAccepted(journey, !isNew), ...(isRecorded ? { recorded: true } : {}) };
    },
  });
}

function takeAnyAdvance(journey: Journey, message: AdvanceMessage, receivedAt: string): boolean {
  const isNew = takeAdvance(journey, message, receivedAt);
  if (isNew && message.applicants) journey.noteApplicants(message.applicants);
  return isNew;
}

/** Applies a decision that the ledger has by now; returns why the run no longer can, or `null`. */
function takeDecided(journey: Journey, effect: RunDecisionEffect): MessageRefusal | null {
  if (effect.update === 'extend') return takeRecordedExtension(journey, effect.message);
  const objection = checkPassGate(journey, effect.message);
  if (objection === null) takeAnyAdvance(journey, effect.message, effect.receivedAt);
  return objection;
}

function handleShares(journey: Journey): void {
  handleUpdate(journey, requestShare, 'requestShare', {
    objection: (message) => checkShareRequest(journey, message),
    answer: async (message) => {
      const { share } = message;
      if (!journey.shares.has(share.shareId)) {
        const { SECONDUSE: journeyPurposeCode } = journey.input.permissiblePurposeCodes ?? {};
        const args = { profile: journey.profile, message, ...omitUndefined({ journeyPurposeCode }) };
        await journey.keepOpenFor(checkShare(args));
        // During the check, the journey may have ended, or received the same share or another one under its id.
        refuseFor(checkShareRequest(journey, message));
      }
      return toAccepted(journey, !journey.takeShare(share));
    },
  });
  handleUpdate(journey, withdrawShare, 'withdrawShare', {
    objection: (message) => {
      const share = journey.shares.get(message.shareId);
      if (!share) return refuse('unknownPart', '/shareId names no share of this journey');
      return checkReportWithdrawal(share, message);
    },
    answer: (message) => answerWithdrawal(journey, requireShare(journey, message.shareId), message),
  });
}
