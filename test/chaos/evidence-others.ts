/** What a storm was to do, and what it leaves behind of reviews, events and the workers' versions. Types only. */
import type { RowResult } from '../../src/messages/portfolio/shapes.ts';
import type { Applicant } from '../../src/model/applicant.ts';

/** What the world meant a run to do. */
export interface RunPlan {
  runKey: string;
  workflowType: string;
  /** Of a share by itself: those of the pull whose report it shares. */
  applicants: readonly Pick<Applicant, 'applicantId' | 'ssn'>[];
  /** Run key of the pull whose report it shares. */
  sharesReportOf?: string;
  /** Some consumer never answers. */
  mayWaitForConsent?: boolean;
  /** A strike cancelled it. */
  mayEndByForce?: boolean;
  /** Of a review. */
  rows?: number;
}

/** The result file of a review; empty where there is none yet. */
export interface ReviewResults {
  runKey: string;
  lines: readonly RowResult[];
}

/** An event that a run has handed over, or is about to. */
export interface EventTold {
  id: string;
  type: string;
  isHandedOver: boolean;
}

/** A request that came to an endpoint, whole. */
export interface ReceivedEvent {
  endpoint: string;
  id: string;
  body: string;
  /** It was answered with success. */
  isAccepted: boolean;
  isSigned: boolean;
}

export interface WebhooksEvidence {
  /** Without `events` an endpoint takes all types. */
  endpoints: { name: string; events?: readonly string[] }[];
  /** By all endpoints, in the order in which they came. */
  received: readonly ReceivedEvent[];
}

/** Of the workers, where they have versions. */
export interface VersionsEvidence {
  deploymentName: string;
  /** Build ids that have workers in the end. */
  live: string[];
  /** Workflow ids of pinned runs that the deployer moved to another version. */
  moved: string[];
}
