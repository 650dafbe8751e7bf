/**
 * Handles the messages about consent. A refusal (a denial, a revocation) counts at once, with or without a proof, since
 * it only prevents a posting. A grant without a proof counts at once if the run trusts the namespace. Any other grant
 * counts once its proof was checked.
 */

import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { otherContent } from '../../base/differing-paths.ts';
import { isRecord } from '../../base/is-record.ts';
import { MAX_WAITING_GRANTS } from '../../consent/consent-book.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import { consentDifferences, describeFault, isAhead } from '../../consent/refusals.ts';
import type { ConsentMessage } from '../../messages/consent.ts';
import type { ShareState } from '../../messages/journey/shapes.ts';
import type { MessageWith, Via } from '../../messages/message.ts';
import { isForUser } from '../../model/stage-end-user.ts';
import type { ProofRefusal } from '../../protection/proofs.ts';
import { inBackground } from '../run/around-the-sdk.ts';
import {
  type Accepted,
  accepted,
  handleUpdate,
  kindOf,
  refused,
  refuseMessage,
} from '../run/messages/message-answers.ts';
import { ANSWER_WITHIN_MS } from '../run/run-decisions.ts';
import { type ConsentHost, type GrantOutcome, proofRefused } from './consent-recording.ts';
import { consentValidForMs, isRefusedByAny, noteRefusalAfterPosting } from './share-record.ts';

/** Bounds the grants that a run keeps for shares not requested yet. */
const MAX_EARLY_GRANTS = 20;

/** Refuses further grants during a burst, or while the ledger cannot be reached. */
const TOO_MANY_WAIT = `${MAX_WAITING_GRANTS} grants wait to be recorded: send it again later`;

export const FOR_ANOTHER_USER = 'the consent is for another secondary user';

interface Taken {
  record: ConsentRecord;
  duplicate: boolean;
  /** Resolves once it is known whether a grant counts. */
  later?: Promise<GrantOutcome>;
}

export function handleConsents<Status>(
  journey: ConsentHost & { status(): Status },
  definition: MessageWith<ConsentMessage>,
): void {
  takeAgain(journey);
  handleUpdate(journey, definition, 'recordConsent', {
    objection: (message) => objectionTo(journey, message, 'update'),
    answer: (message) => answerTo(journey, take(journey, message)),
  });
  setHandler(
    defineSignal<[ConsentMessage]>('consent'),
    (message) => {
      const reason = definition.objection(journey, message, 'signal') ?? objectionTo(journey, message, 'signal');
      const note = (why: string) =>
        refuseMessage(journey, 'consent', why, isRecord(message) ? message.consentId : undefined);
      if (reason !== null) return note(reason);
      const { duplicate, later } = take(journey, message);
      // The handler of the first message notes a refusal.
      if (duplicate) return;
      tellIfUnmatched(journey, message);
      if (later) void noteRefusal(journey, message, later);
    },
    { description: definition.signals?.consent as string },
  );
}

/** Emits an event since a signal has no answer: the share is not requested, or its id is misspelt. */
function tellIfUnmatched({ shares, events }: ConsentHost, message: ConsentMessage): void {
  const { shareId, applicantId, consentId, decision } = message;
  if (shares.has(shareId)) return;
  events.emit('consent.unmatched', [shareId, applicantId, consentId, decision], { shareId, consentId });
}

/** Waits until the ledger has the message and it is known whether it counts, but no longer than an answer may take. */
async function answerTo<Status>(
  journey: ConsentHost & { status(): Status },
  { record, duplicate, later }: Taken,
): Promise<Accepted<Status>> {
  const answer: { outcome?: GrantOutcome; isGiven: boolean } = { isGiven: false };
  if (!later) answer.outcome = { counts: true, duplicate };
  void later?.then((outcome) => {
    answer.outcome = outcome;
    if (answer.isGiven && !duplicate) noteIfRefused(journey, record, outcome);
  });
  const isDone = () => answer.outcome?.counts === false || (!!answer.outcome && journey.recorder.isSettled(record));
  if (!isDone()) await condition(isDone, ANSWER_WITHIN_MS, { summary: 'answering before a consent is recorded' });
  answer.isGiven = true;
  const { outcome } = answer;
  if (outcome?.counts === false) throw refused(outcome.reason);
  const isDuplicate = duplicate || (outcome?.duplicate ?? false);
  const unmatched = journey.shares.has(record.shareId) ? {} : { unmatched: 'share' as const };
  return { ...accepted(journey, isDuplicate), recorded: journey.recorder.isRecorded(record), ...unmatched };
}

/** Resumes the checks of grants that the previous run had taken by signal. */
function takeAgain(journey: ConsentHost): void {
  for (const record of journey.consents.pending()) {
    void noteRefusal(journey, record, journey.checks.open(record));
    if (record.proof !== undefined) inBackground(() => checkGrant(journey, record));
  }
}

/** Shows a refusal in the status, since a signal has no answer. */
async function noteRefusal(
  journey: ConsentHost,
  { consentId }: Pick<ConsentRecord, 'consentId'>,
  later: Promise<GrantOutcome>,
): Promise<void> {
  noteIfRefused(journey, { consentId }, await later);
}

function noteIfRefused(
  journey: ConsentHost,
  { consentId }: Pick<ConsentRecord, 'consentId'>,
  outcome: GrantOutcome,
): void {
  if (!outcome.counts) refuseMessage(journey, 'consent', outcome.reason, consentId);
}

/** Judges the grants that came before it was known what makes one count here. */
export function settleEarlyGrants(journey: ConsentHost): void {
  for (const record of journey.consents.pending()) {
    if (record.proof === undefined) settle(journey, record, needsProof(journey) ? 'missing' : undefined);
  }
}

function needsProof({ run }: ConsentHost): boolean {
  return run?.consentTrust === 'proof';
}

function objectionTo(journey: ConsentHost, message: ConsentMessage, via: Via): string | null {
  const record = { ...message, receivedAt: '' };
  const otherwise = saidOtherwise(journey, record);
  if (otherwise !== null) return otherwise;
  // A signal has no answer, and the fault was noted when the grant got it.
  if (journey.consents.has(record)) return via === 'update' ? findFault(journey, record) : null;
  if (journey.checks.sameAs(record)) return null;
  if (!journey.knowsApplicant(message.applicantId)) {
    return `/applicantId names no applicant of this ${kindOf(journey)}`;
  }
  if (isAhead(message, Date.now())) return '/decidedAt must not be in the future';
  // Refusals are always taken: a limit must not keep a grant in force that its applicant has revoked.
  if (message.decision !== 'granted') return null;
  if (message.proof !== undefined && journey.checks.areSpent)
    return `too many proofs were checked for this ${kindOf(journey)}`;
  return grantProblem(journey, message);
}

/** Returns why the run cannot count a grant now, from any source, or `null`. */
export function grantProblem(journey: ConsentHost, message: ConsentMessage): string | null {
  if (!journey.knowsApplicant(message.applicantId)) {
    return `/applicantId names no applicant of this ${kindOf(journey)}`;
  }
  const share = journey.shares.get(message.shareId);
  if (share && !isForUser(message.secondaryUser, share.input)) return FOR_ANOTHER_USER;
  const ofAnother = journey.personProblem?.(message) ?? null;
  if (ofAnother !== null) return ofAnother;
  if (message.proof === undefined && needsProof(journey)) return proofRefused('missing');
  if (journey.consents.isFull(journey.recorder)) return TOO_MANY_WAIT;
  if (!share && journey.consents.hasEarlyGrants(MAX_EARLY_GRANTS, (shareId) => journey.shares.has(shareId)))
    return `at most ${MAX_EARLY_GRANTS} grants wait for shares not yet requested`;
  return null;
}

/** The states of a share that was, or may have been, sent under its grants. */
const SENT: readonly ShareState[] = ['posting', 'held', 'posted', 'notPosted'];

/** Returns why a grant that was accepted before no longer counts, or `null`. */
function findFault({ consents, shares }: ConsentHost, record: ConsentRecord): string | null {
  const share = shares.get(record.shareId);
  if (record.decision !== 'granted' || (share && SENT.includes(share.state))) return null;
  const worth = consents.worthOf(record, { nowMs: Date.now(), validForMs: share && consentValidForMs(share.input) });
  if (worth === 'stands') return null;
  const { path, rule } = describeFault(worth);
  return `${path} ${rule}`;
}

/** Returns why a message is refused whose key belongs to an accepted message with other content, or `null`. */
function saidOtherwise({ consents }: ConsentHost, record: ConsentRecord): string | null {
  const known = consents.known(record);
  if (!known) return null;
  const differing = consentDifferences(known, record, {
    hasGrantedSince: record.decidedNow === true && consents.hasGrantedSince(known),
  });
  return differing.length > 0 ? otherContent('/consentId with this /decision was used', differing) : null;
}

function take(journey: ConsentHost, message: ConsentMessage): Taken {
  journey.consents.makeRoom(journey.recorder);
  const record: ConsentRecord = { ...message, receivedAt: new Date().toISOString() };
  return record.decision === 'granted' ? takeGrant(journey, record) : takeRefusal(journey, record);
}

function takeGrant(journey: ConsentHost, record: ConsentRecord): Taken {
  if (journey.consents.has(record)) return { record, duplicate: true };
  const same = journey.checks.sameAs(record);
  if (same) return { record, duplicate: true, later: same };
  if (record.proof === undefined && journey.run) {
    journey.consents.add(record);
    journey.recorder.add(record);
    onChange(journey, record);
    return { record, duplicate: false };
  }
  journey.consents.addPending(record);
  const later = journey.checks.open(record);
  if (record.proof !== undefined) inBackground(() => checkGrant(journey, record));
  return { record, duplicate: false, later };
}

async function checkGrant(journey: ConsentHost, record: ConsentRecord): Promise<void> {
  const verdict = await journey.handOver.part(() => journey.checks.verdictOn(record));
  settle(journey, record, verdict.accepted ? undefined : verdict.reason);
}

function settle(journey: ConsentHost, record: ConsentRecord, refusal: ProofRefusal | undefined): void {
  // The grant was dropped meanwhile, and its sender has the answer.
  if (!journey.checks.isOpen(record)) return;
  const otherwise = saidOtherwise(journey, record);
  if (otherwise !== null) {
    journey.consents.refuse(record);
    journey.checks.settle(record, { counts: false, reason: otherwise });
  } else if (refusal === undefined) {
    const isNew = journey.consents.accept(record);
    if (isNew) journey.recorder.add(record);
    journey.checks.settle(record, { counts: true, duplicate: !isNew });
  } else {
    journey.consents.refuse(record);
    journey.checks.settle(record, { counts: false, reason: proofRefused(refusal) });
  }
  onChange(journey, record);
}

/** A refusal counts at once; the activity that records it judges whether its proof is kept. */
function takeRefusal(journey: ConsentHost, record: ConsentRecord): Taken {
  const isNew = journey.consents.add(record);
  if (isNew) {
    journey.recorder.add(record);
    onChange(journey, record);
  }
  return { record, duplicate: !isNew };
}

/** Acts on a changed consent: it may stop an attempt that is not on the wire yet, or flag a posted share. */
function onChange(journey: ConsentHost, { shareId }: ConsentRecord): void {
  journey.inFlight.recheck();
  const share = journey.shares.get(shareId);
  if (share?.state !== 'posted') return;
  const isRefused = isRefusedByAny(journey.consents, share.input, journey.applicantsOf(share));
  noteRefusalAfterPosting(journey, share, isRefused);
}
