/**
 * What the messages do to a journey. Validators are synchronous and refuse without a trace in the history; signal
 * handlers never throw and never wait: what they refuse is noted and shown in `status`.
 */
import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import { parseInstantMs } from '../model/instants.ts';
import type {
  AdvanceMessage,
  Applicant,
  ConsentMessage,
  RequestShareMessage,
  ResolveInquiryMessage,
  UpdateAnswer,
  WithdrawMessage,
} from '../model/shapes.ts';
import { journeyActivities } from './activity-stubs.ts';
import { isForUser, MAX_CONSENT_MESSAGES } from './consent-book.ts';
import { applicationFailureOf } from './flights.ts';
import type { Journey } from './journey.ts';
import {
  advanceProblem,
  consentProblem,
  isRecord,
  requestShareProblem,
  resolveInquiryProblem,
  withdrawProblem,
} from './message-shapes.ts';
import * as messages from './messages.ts';
import { consentTowards, noteRefusalAfterPosting } from './shares.ts';

/** Consents for shares that nobody has requested yet: kept, but not without end. */
const MAX_EARLY_CONSENTS = 20;
const MAX_SHARES = 20;
/** Clocks of consent systems may be ahead of ours by this much; later ones would outlast a revocation. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

export function handleMessages(journey: Journey): void {
  handleGates(journey);
  handleShares(journey);
  handleConsents(journey);
  handleWithdrawals(journey);
  handleDecisions(journey);
  setHandler(messages.status, () => journey.status(), {
    description: 'Where the journey stands, and what it waits for. Nothing personal.',
  });
  setHandler(messages.references, () => journey.references(), {
    description: 'The references to be stored for later shares. consumerId is personal.',
  });
}

/** Thrown by a validator it leaves no trace in the history; by a handler, it fails the accepted update. */
function refused(reason: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'UpdateRefused',
    message: `refused: ${reason}`,
    nonRetryable: true,
    details: [{ reason }],
  });
}

function refuseFor(reason: string | null): void {
  if (reason !== null) throw refused(reason);
}

function accepted(journey: Journey, duplicate: boolean): UpdateAnswer {
  return { accepted: true, duplicate, status: journey.status() };
}

function otherJourney(journey: Journey, message: { journeyId: string }): string | null {
  return message.journeyId === journey.journeyId ? null : '/journeyId names another journey';
}

/** The interface's table holds for applicants that come later, too; checked by an activity, since zod stays out. */
async function checkApplicants(journey: Journey, applicants: Applicant[]): Promise<void> {
  try {
    await journeyActivities.checkApplicants({ profile: journey.input.profile ?? 'default', applicants });
  } catch (error) {
    const failure = applicationFailureOf(error);
    if (failure?.type !== 'InvalidInput') throw error;
    const { problems = [] } = (failure.details?.[0] ?? {}) as { problems?: { path: string; rule: string }[] };
    throw refused(problems.map(({ path, rule }) => `${path} ${rule}`).join('; '));
  }
}

function handleGates(journey: Journey): void {
  const problemOf = (message: AdvanceMessage): string | null => {
    const problem = advanceProblem(message) ?? otherJourney(journey, message);
    if (problem) return problem;
    const stage = journey.stage(message.to);
    if (!stage) return `/to names a stage that this journey leaves out`;
    if (!journey.gateBefore(message.to)) return `there is no gate before ${message.to}`;
    if (journey.advances.has(message.to)) return null;
    if (journey.isEnding) return 'the journey is ending';
    if (stage.status.state !== 'pending') return `${message.to} has gone beyond its gate: ${stage.status.state}`;
    return null;
  };
  setHandler(
    messages.advance,
    async (message) => {
      if (message.applicants) {
        await checkApplicants(journey, message.applicants);
        // While they were checked, the gate may have expired.
        refuseFor(problemOf(message));
      }
      if (journey.advances.has(message.to)) return accepted(journey, true);
      journey.advances.set(message.to, message);
      return accepted(journey, false);
    },
    {
      validator: (message) => refuseFor(problemOf(message)),
      description: 'Passes the gate before a stage: { journeyId, to, applicants? }. One that comes early is kept.',
    },
  );
}

function handleShares(journey: Journey): void {
  const isSame = (message: RequestShareMessage) => {
    const known = journey.shares.get(message.share.shareId);
    return known !== undefined && isEqual(known.input, message.share);
  };
  setHandler(
    messages.requestShare,
    (message) => {
      if (isSame(message)) return accepted(journey, true);
      const { share } = message;
      for (const { consentId } of journey.consents.dropMismatchedGrants(share.shareId, share)) {
        refuseMessage(journey, 'consent', 'the consent is for another secondary user', consentId);
      }
      journey.addShare(share);
      return accepted(journey, false);
    },
    {
      validator: (message) => {
        refuseFor(requestShareProblem(message) ?? otherJourney(journey, message));
        if (isSame(message)) return;
        const { share } = message;
        if (journey.shares.has(share.shareId)) throw refused('/share/shareId is taken by another share');
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
      description: 'Shares the report with a secondary user, once every applicant consents: { journeyId, share }.',
    },
  );
}

function handleConsents(journey: Journey): void {
  const problemOf = (message: ConsentMessage): string | null => {
    const problem = consentProblem(message) ?? otherJourney(journey, message);
    if (problem) return problem;
    if (journey.consents.has({ ...message, receivedAt: '' })) return null;
    if (!journey.knowsApplicant(message.applicantId)) return '/applicantId names no applicant of this journey';
    if ((parseInstantMs(message.decidedAt) ?? 0) > Date.now() + CLOCK_TOLERANCE_MS) {
      return '/decidedAt must not be in the future';
    }
    // Refusals are always taken: a limit must not keep anybody's consent standing.
    if (message.decision !== 'granted') return null;
    const share = journey.shares.get(message.shareId);
    if (share && !isForUser(message.secondaryUser, share.input)) return 'the consent is for another secondary user';
    if (journey.consents.size >= MAX_CONSENT_MESSAGES) return `a journey keeps ${MAX_CONSENT_MESSAGES} consents`;
    const early = share ? 0 : journey.consents.earlyCount((shareId) => journey.shares.has(shareId));
    if (early >= MAX_EARLY_CONSENTS) return `at most ${MAX_EARLY_CONSENTS} consents wait for shares not yet requested`;
    return null;
  };
  const take = (message: ConsentMessage): boolean => {
    const isNew = journey.consents.add(journey.consentRecord(message));
    if (isNew) {
      journey.flights.recheck();
      const share = journey.shares.get(message.shareId);
      if (share)
        noteRefusalAfterPosting(journey, share, consentTowards(journey, share, journey.applicantsOf(share.input)));
    }
    return isNew;
  };
  setHandler(messages.recordConsent, (message) => accepted(journey, !take(message)), {
    validator: (message) => refuseFor(problemOf(message)),
    description:
      'Records that an applicant granted, denied or revoked consent to a share; refuses what makes no sense.',
  });
  setHandler(
    messages.consent,
    (message) => {
      const reason = problemOf(message);
      if (reason === null) take(message);
      else refuseMessage(journey, 'consent', reason, isRecord(message) ? message.consentId : undefined);
    },
    { description: 'The same as recordConsent, without an answer; what is refused is shown in status.' },
  );
}

function handleWithdrawals(journey: Journey): void {
  const problemOf = (message: WithdrawMessage): string | null =>
    withdrawProblem(message) ??
    otherJourney(journey, message) ??
    (journey.stageWasAbandoned ? 'the journey is ending already' : null);
  const take = (message: WithdrawMessage): boolean => {
    const isNew = journey.withdrawal === undefined;
    journey.withdrawal ??= message;
    journey.flights.recheck();
    return isNew;
  };
  setHandler(messages.withdraw, (message) => accepted(journey, !take(message)), {
    validator: (message) => refuseFor(problemOf(message)),
    description: 'Ends the journey after any attempt in flight: { journeyId, by, reason }.',
  });
  setHandler(
    messages.requestWithdrawal,
    (message) => {
      const reason = problemOf(message);
      if (reason === null) take(message);
      else refuseMessage(journey, 'requestWithdrawal', reason);
    },
    { description: 'The same as withdraw, without an answer.' },
  );
}

function handleDecisions(journey: Journey): void {
  const { holds } = journey;
  const decide = (message: ResolveInquiryMessage) => holds.decide({ ...message, receivedAt: new Date().toISOString() });
  setHandler(
    messages.resolveInquiry,
    async (message) => {
      if (holds.isDuplicate(message)) return accepted(journey, true);
      if (message.applicants) {
        holds.reserve(message);
        try {
          await checkApplicants(journey, message.applicants);
        } finally {
          holds.release(message);
        }
        refuseFor(holds.problemOf(message, journey.isEnding));
      }
      decide(message);
      return accepted(journey, false);
    },
    {
      validator: (message) =>
        refuseFor(
          resolveInquiryProblem(message) ??
            otherJourney(journey, message) ??
            holds.problemOf(message, journey.isEnding),
        ),
      description:
        'Decides about an inquiry on hold: { journeyId, decisionId, customerTraceNumber, attempt, action, by, reason, providerSaid, … }.',
    },
  );
}

function refuseMessage(journey: Journey, message: string, reason: string, consentId?: unknown): void {
  const isShown = typeof consentId === 'string' && /^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/.test(consentId);
  journey.refuse({
    message,
    at: new Date().toISOString(),
    reason,
    ...(isShown ? { consentId } : {}),
  });
}

function isEqual(a: object, b: object): boolean {
  const text = (value: object) => JSON.stringify(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1)));
  return text(a) === text(b);
}
