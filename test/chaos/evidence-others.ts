/** Types of a storm's plan, and of its evidence of reviews, events and worker versions. */
import type { RowResult } from '../../src/messages/portfolio/shapes.ts';
import type { Applicant } from '../../src/model/applicant.ts';

/** The plan for a run. */
export interface RunPlan {
  runKey: string;
  workflowType: string;
  /** For a share by itself, those of the pull whose report it shares. */
  applicants: readonly Pick<Applicant, 'applicantId' | 'ssn'>[];
  /** Run key of the pull whose report it shares. */
  sharesReportOf?: string;
  /** Some consumer never answers. */
  mayWaitForConsent?: boolean;
  /** A strike cancelled it. */
  mayEndByForce?: boolean;
  /** The number of rows of a review. */
  rows?: number;
}

/** The result file of a review. Empty if it does not exist yet. */
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
  /** An endpoint without `events` takes all types. */
  endpoints: { name: string; events?: readonly string[] }[];
  /** The requests to all endpoints, in the order of arrival. */
  received: readonly ReceivedEvent[];
}

/** The evidence of worker versions, in worlds that have versions. */
export interface VersionsEvidence {
  deploymentName: string;
  /** Build ids that have workers in the end. */
  live: string[];
  /** Workflow ids of pinned runs that the deployer moved to another version. */
  moved: string[];
}
