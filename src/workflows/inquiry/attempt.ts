/** One attempt as the workflow sees it: one activity, and the ledger's row if the activity has no result. */
import { workflowInfo } from '@temporalio/workflow';
import type {
  RunConfig,
  SubmitFailureDetails,
  SubmitInquiryArgs,
  SubmitInquiryResult,
} from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { isFailureType } from '../../model/failure-types.ts';
import { toGatewayQueue, toInquiryPriority } from '../../model/work-class.ts';
import { submitInquiryFor } from '../run/activity-stubs.ts';
import { findApplicationFailure } from '../run/failures.ts';
import type { AttemptHost } from './inquiry-spec.ts';
import { type AttemptStep, closeByLookUp, toFailureStep, toStep } from './ledger-look-ups.ts';

type AttemptRequest = Omit<SubmitInquiryArgs, 'run' | 'settings'> & { shouldStop(): boolean };

export async function makeAttempt(host: AttemptHost, request: AttemptRequest): Promise<AttemptStep> {
  const { shouldStop, ...args } = request;
  const { config } = host;
  const { taskQueue } = workflowInfo();
  const begunAt = new Date().toISOString();
  const ended = await host.inFlight.run(shouldStop, () =>
    submitInquiryFor(config, {
      taskQueue: args.onWorkflowQueue ? taskQueue : toGatewayQueue(taskQueue, config.profile),
      summary: describeAttempt(args),
      priority: toInquiryPriority(args.inquiry),
    })({ ...args, run: pickIdentity(config), settings: config.settings }),
  );
  if (ended.kind === 'completed') {
    if (ended.value.kind === 'answered') config.highWaterMark = ended.value.highWaterMark;
    return toResultStep(host, ended.value);
  }
  const failure = findApplicationFailure(ended.error);
  const details = failure?.details?.[0] as Partial<SubmitFailureDetails> | undefined;
  if (details?.highWaterMark) config.highWaterMark = details.highWaterMark;
  // An activity that reports its own failure before a claim has ended; after any other failure of that type it may
  // still run.
  if (failure && isFailureType(failure.type) && (failure.type !== 'ActivityFailed' || details?.claimed === false)) {
    return toFailureStep(failure.type, args.attempt, details);
  }
  // A time-out, a lost worker, a cancellation, a result that the server refused: only the ledger knows.
  return closeByLookUp(host, { ...args, begunAt });
}

function describeAttempt({ inquiry, attempt }: Pick<AttemptRequest, 'inquiry' | 'attempt'>): string {
  const share = inquiry.shareId === undefined ? '' : ` · share ${inquiry.shareId}`;
  const again =
    inquiry.ordinal === 0 ? '' : ` · ${inquiry.amends === undefined ? 'again' : 'amended'} ${inquiry.ordinal}`;
  return `${inquiry.productCode}${share}${again} · attempt ${attempt}`;
}

function pickIdentity(config: RunConfig): SubmitInquiryArgs['run'] {
  const { environment, profile, customerId, profileFingerprint, ledgerId, accents, highWaterMark } = config;
  return {
    environment,
    profile,
    customerId,
    profileFingerprint,
    ledgerId,
    ...omitUndefined({ accents, highWaterMark }),
  };
}

function toResultStep(host: AttemptHost, result: SubmitInquiryResult): AttemptStep {
  if (result.kind === 'withdrawn') {
    host.onWithdrawn({ by: result.by, reason: result.reason });
    return { kind: 'stop', end: { kind: 'stopped' } };
  }
  if (result.kind !== 'latest') return result;
  const step = toStep(result.latest);
  return step.kind === 'answered' ? { ...step, ...omitUndefined({ changes: result.changes }) } : step;
}
