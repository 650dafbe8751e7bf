/** The events that platforms are told by webhooks: their types, what each says, and their stable ids. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { FailureType, HoldAction } from '../../model/failure-types.ts';
import type { Environment, ProductCode, StageCode } from '../../model/products.ts';
import type { ReportOutcome } from '../../model/report-outcome.ts';
import { base32 } from '../../model/trace-number.ts';
import type { EndWithoutOutcome, JourneyOutcome } from '../journey/shapes.ts';
import type { PortfolioOutcome } from '../portfolio/shapes.ts';
import type { PullOutcome, PullProduct } from '../pull/shapes.ts';
import type { ShareReportOutcome } from '../share/shapes.ts';

export const WEBHOOK_EVENT_TYPES = [
  'stage.answered',
  'gate.reached',
  'consent.missing',
  'consent.refused',
  'consent.unmatched',
  'inquiry.held',
  'hold.resolved',
  'share.posted',
  'journey.ended',
  'pull.answered',
  'pull.ended',
  'share.ended',
  'portfolio.ended',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Which inquiry: a trace number names it, and reveals nothing of it. */
interface InquiryName {
  customerTraceNumber: string;
  productCode: ProductCode;
  shareId?: string;
}

/** How a run that its platform hears of may end: with its own outcome, or without one. */
export type Ended<Outcome> = Outcome | EndWithoutOutcome;

/**
 * `data` of each type, without what all of them have. Nothing personal, and no report reference: it is half of a
 * SECONDUSE (interface 2.6).
 */
export interface WebhookEventData {
  'stage.answered': { stage: StageCode; outcome: ReportOutcome; customerTraceNumber?: string; attempts: number };
  'gate.reached': { stage: StageCode; until: string };
  /** `waitingFor`: the applicantIds of those whose grant does not stand. */
  'consent.missing': { shareId: string; waitingFor: string[]; until: string };
  /** A consent that came by signal, or whose refusal came after its answer: it does not count, or its proof is not kept. */
  'consent.refused': { consentId?: string; reason: string };
  /** A consent that came by signal, for a share that the journey does not know yet: it is kept. */
  'consent.unmatched': { shareId: string; consentId: string };
  'inquiry.held': InquiryName & { attempt: number; failureType: FailureType; allowedActions: HoldAction[] };
  /** `overtaken`: the ledger has not taken the decision; what stood there already is gone on with. */
  'hold.resolved': InquiryName & { attempt: number; failureType: FailureType; action: HoldAction; overtaken?: true };
  'share.posted': { shareId: string; customerTraceNumber?: string };
  'journey.ended': { outcome: Ended<JourneyOutcome> };
  'pull.answered': {
    productCode: PullProduct;
    outcome: ReportOutcome;
    customerTraceNumber?: string;
    attempts: number;
  };
  'pull.ended': { productCode: PullProduct; outcome: Ended<PullOutcome> };
  /** Of a `shareReport`; a journey tells of its shares, and then of its own end. */
  'share.ended': { outcome: Ended<ShareReportOutcome> };
  'portfolio.ended': { outcome: Ended<PortfolioOutcome> };
}

interface OfJourney {
  journeyId: string;
}
interface OfPull {
  pullId: string;
}
/** Of a `shareReport`: without a `journeyId`, which the events of a journey's shares have. */
interface OfShare {
  shareId: string;
}

interface OfReview {
  reviewId: string;
}

/** The run that an event is of, by its caller's own id. */
export type WebhookRun = OfJourney | OfPull | OfShare | OfReview;

/** Which runs have events of a type. */
export interface WebhookRuns {
  'stage.answered': OfJourney;
  'gate.reached': OfJourney;
  'consent.missing': OfJourney | OfShare;
  'consent.refused': OfJourney | OfShare;
  'consent.unmatched': OfJourney;
  'inquiry.held': WebhookRun;
  'hold.resolved': WebhookRun;
  'share.posted': OfJourney | OfShare;
  'journey.ended': OfJourney;
  'pull.answered': OfPull;
  'pull.ended': OfPull;
  'share.ended': OfShare;
  'portfolio.ended': OfReview;
}

/** What every event's `data` has. */
export type WebhookSubject<T extends WebhookEventType = WebhookEventType> = WebhookRuns[T] & {
  environment: Environment;
};

/** One event on its way; `id` becomes the header `webhook-id`, and the rest the body. */
export interface WebhookEvent {
  id: string;
  type: WebhookEventType;
  /** RFC 3339: when it happened, not when it was sent. */
  timestamp: string;
  data: WebhookSubject & Record<string, unknown>;
}

/**
 * `evt_` and 26 base-32 characters (128 bits of SHA-256) of what happened to whom: the same where a workflow is
 * replayed, reset or started again, so that receivers know an event that they have had.
 *
 * @param key what makes it another event than the others of its type in this workflow
 */
export function webhookEventId(
  subject: { environment: Environment; workflowId: string },
  type: WebhookEventType,
  key: readonly (string | number)[],
): string {
  const name = JSON.stringify([subject.environment, subject.workflowId, type, ...key]);
  return `evt_${base32(sha256(utf8ToBytes(name)), 26)}`;
}
