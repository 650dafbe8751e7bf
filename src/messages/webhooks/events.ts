/** The events that platforms receive by webhooks: their types, their content, and their stable ids. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { FailureType, HoldAction } from '../../model/failure-types.ts';
import type { Environment, ProductCode, StageCode } from '../../model/products.ts';
import type { ReportOutcome } from '../../model/report-outcome.ts';
import { base32 } from '../../model/trace-number.ts';
import type { JourneyOutcome, TerminalState } from '../journey/shapes.ts';
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

/** The inquiry of an event. Its trace number identifies it and reveals nothing of it. */
interface InquiryName {
  customerTraceNumber: string;
  productCode: ProductCode;
  shareId?: string;
}

/** The end of a run that has events: with its own outcome, or without one. */
export type Ended<Outcome> = Outcome | TerminalState;

/**
 * `data` of each type, without the members that all types have. Nothing personal, and no report reference: that is half
 * of a SECONDUSE (interface 2.6).
 */
export interface WebhookEventData {
  'stage.answered': { stage: StageCode; outcome: ReportOutcome; customerTraceNumber?: string; attempts: number };
  'gate.reached': { stage: StageCode; until: string };
  /** `waitingFor`: the applicantIds without a standing grant. */
  'consent.missing': { shareId: string; waitingFor: string[]; until: string };
  /**
   * A consent that does not count, or whose proof is not kept. It came by signal, or its refusal came after its answer.
   */
  'consent.refused': { consentId?: string; reason: string };
  /** A consent that came by signal for a share that has not been requested yet. The journey keeps it. */
  'consent.unmatched': { shareId: string; consentId: string };
  'inquiry.held': InquiryName & { attempt: number; failureType: FailureType; allowedActions: HoldAction[] };
  /** `overtaken`: the ledger has not taken the decision. The run goes on with what stood there already. */
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
  /** For a `shareReport`. A journey has events of its shares, and then of its own end. */
  'share.ended': { outcome: Ended<ShareReportOutcome> };
  'portfolio.ended': { outcome: Ended<PortfolioOutcome> };
}

interface OfJourney {
  journeyId: string;
}
interface OfPull {
  pullId: string;
}
/** The run of a `shareReport`: without a `journeyId`, which the events of a journey's shares have. */
interface OfShare {
  shareId: string;
}

interface OfReview {
  reviewId: string;
}

/** The run that an event concerns, by its caller's own id. */
export type WebhookRun = OfJourney | OfPull | OfShare | OfReview;

/** The runs that have events of each type. */
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

/** The members that every event's `data` has. */
export type WebhookSubject<T extends WebhookEventType = WebhookEventType> = WebhookRuns[T] & {
  environment: Environment;
};

/** One event; `id` becomes the header `webhook-id`, and the rest becomes the body. */
export interface WebhookEvent {
  id: string;
  type: WebhookEventType;
  /** RFC 3339: when it happened, not when it was sent. */
  timestamp: string;
  data: WebhookSubject & Record<string, unknown>;
}

/**
 * `evt_` and 26 base-32 characters (128 bits of SHA-256) of the event and its subject. The id is the same where a
 * workflow is replayed, reset or started again: receivers recognize an event that they have had.
 *
 * @param key what tells the event apart from the others of its type in this workflow
 */
export function webhookEventId(
  subject: { environment: Environment; workflowId: string },
  type: WebhookEventType,
  key: readonly (string | number)[],
): string {
  const name = JSON.stringify([subject.environment, subject.workflowId, type, ...key]);
  return `evt_${base32(sha256(utf8ToBytes(name)), 26)}`;
}
