/**
 * What the messages do to a journey. Validators are synchronous and refuse without a trace in the history; signal
 * handlers never throw and never wait: what they refuse is noted and shown in `status`.
 */
import { setHandler } from '@temporalio/workflow';
import { differingPaths, otherContent } from '../model/differing-paths.ts';
import type { AdvanceMessage, RequestShareMessage } from '../model/shapes.ts';
import { advanceObjection, takeAdvance } from './advances.ts';
import { FOR_ANOTHER_USER, handleConsents } from './consent-handlers.ts';
import type { Journey } from './journey.ts';
import { accepted, otherJourney, refused, refuseFor, refuseMessage } from './message-answers.ts';
import { DESCRIPTIONS } from './message-descriptions.ts';
import { advanceProblem, requestShareProblem, resolveInquiryProblem, withdrawProblem } from './message-shapes.ts';
import * as messages from './messages.ts';
import { checkApplicants, handleDecisions, handleWithdrawals } from './run-messages.ts';
import { updateProblem } from './stricter-shapes.ts';

const MAX_SHARES = 20;

export function handleMessages(journey: Journey): void {
  handleGates(journey);
  handleShares(journey);
  handleConsents(journey, { definitions: messages, descriptions: DESCRIPTIONS });
  handleWithdrawals(journey, {
    definitions: messages,
    descriptions: DESCRIPTIONS,
    problemOf: (message) =>
      withdrawProblem(message) ??
      otherJourney(journey, message) ??
      (journey.stageWasAbandoned ? 'the journey is ending already' : null),
  });
  handleDecisions(journey, {
    definition: messages.resolveInquiry,
    description: DESCRIPTIONS.resolveInquiry,
    problemOf: (message) => resolveInquiryProblem(message) ?? otherJourney(journey, message),
    checkApplicants: (applicants) => checkApplicants({ profile: profileOf(journey), applicants }),
  });
  setHandler(messages.status, () => journey.status(), {
    description: DESCRIPTIONS.status,
  });
  setHandler(messages.references, () => journey.references(), {
    description: DESCRIPTIONS.references,
  });
}

function profileOf({ input }: Journey): string {
  return input.profile ?? 'default';
}

function handleGates(journey: Journey): void {
  const problemOf = (message: AdvanceMessage): string | null =>
    advanceProblem(message) ?? otherJourney(journey, message) ?? advanceObjection(journey, message);
  setHandler(
    messages.advance,
    async (message) => {
      if (message.applicants) {
        await checkApplicants({ profile: profileOf(journey), applicants: message.applicants });
        // While they were checked, the gate may have expired.
        refuseFor(problemOf(message));
      }
      const isNew = takeAdvance(journey, message);
      if (isNew && message.applicants) journey.noteApplicants(message.applicants);
      return accepted(journey, !isNew);
    },
    {
      validator: (message) => refuseFor(problemOf(message)),
      description: DESCRIPTIONS.advance,
    },
  );
}

function handleShares(journey: Journey): void {
  const isSame = (message: RequestShareMessage) => {
    const known = journey.shares.get(message.share.shareId);
    return known !== undefined && differingPaths(known.input, message.share).length === 0;
  };
  setHandler(
    messages.requestShare,
    (message) => {
      if (isSame(message)) return accepted(journey, true);
      const { share } = message;
      for (const grant of journey.consents.dropMismatchedGrants(share.shareId, share)) {
        // Of one that was still to be judged, whoever waits for its outcome says so.
        if (journey.checks.settle(grant, { counts: false, reason: FOR_ANOTHER_USER })) continue;
        refuseMessage(journey, 'consent', FOR_ANOTHER_USER, grant.consentId);
      }
      journey.addShare(share);
      return accepted(journey, false);
    },
    {
      validator: (message) => {
        refuseFor(requestShareProblem(message) ?? updateProblem(message) ?? otherJourney(journey, message));
        if (isSame(message)) return;
        const { share } = message;
        const known = journey.shares.get(share.shareId);
        if (known) {
          const differing = differingPaths({ share: known.input }, { share });
          throw refused(otherContent('/share/shareId was used', differing));
        }
        if (journey.isEnding || journey.isClosing)
          throw refused('the journey is ending; a share of its own may follow');
        if (journey.shares.size >= MAX_SHARES) throw refused(`a journey has at most ${MAX_SHARES} shares`);
        if (share.endUserCode !== undefined && share.endUserCode === journey.input.endUserCode) {
          throw refused('/share/endUserCode must not be the journey’s own end user');
        }
        if (share.reportOf !== undefined && !journey.stage(share.reportOf)) {
          throw refused('/share/reportOf names a stage that this journey leaves out');
        }
        if (share.permissiblePurposeCode === undefined && !journey.input.permissiblePurposeCodes?.SECONDUSE) {
          throw refused('/share/permissiblePurposeCode is required: the journey has none for SECONDUSE');
        }
      },
      description: DESCRIPTIONS.requestShare,
    },
  );
}
