/** The checks of every run with inquiries, and the configuration that it keeps to. */
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { defined } from '../base/defined.ts';
import { utcInstant } from '../base/instants.ts';
import { GatewayError } from '../gateway/errors.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import { profileFingerprint } from '../gateway/profile.ts';
import { LedgerUnavailableError } from '../ledger/errors.ts';
import type { StartFacts } from '../ledger/records.ts';
import type { InquiryContent, InquiryDescription } from '../model/inquiry.ts';
import { workflowIdOf } from '../model/owner-id.ts';
import type { Problem } from '../model/problems.ts';
import type { PreparedRun } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { buildRequest } from './inquiry-request.ts';
import { contentAsSent } from './sent-applicants.ts';

/** The input is not checked yet when its profile's limits are needed to check it. */
export function profileNameOf(input: unknown): string {
  const name = (input as { profile?: unknown } | null | undefined)?.profile;
  return typeof name === 'string' ? name : 'default';
}

/**
 * What the ledger knows of the run's owner; `null` where it does not answer. That is no reason to refuse a start: each
 * claim asks the same, and sends nothing either.
 */
export async function factsAtStart({ ledger }: ActivityDependencies, ownerId: string): Promise<StartFacts | null> {
  const facts = await ifAnswered(ledger.startFacts(ownerId));
  if (facts?.hasOpenWork && workflowIdProblems({ ownerId, path: '' }).length === 0) {
    // A run of this id that was cut off has left what it waited for.
    const before = utcInstant(activityInfo().scheduledTimestampMs);
    await ifAnswered(ledger.work.takeOver(ledger.identity.ledgerId, { ownerId, before }));
  }
  return facts;
}

/** Fixes the configuration that the run keeps to from now on. */
export async function fixRun(
  dependencies: ActivityDependencies,
  profile: GatewayProfile,
  facts: StartFacts | null,
  token?: PreparedRun['token'],
): Promise<PreparedRun> {
  return {
    environment: profile.environment,
    profile: profile.name,
    customerId: profile.customerId,
    profileFingerprint: profileFingerprint(profile),
    ledgerId: dependencies.ledger.identity.ledgerId,
    ...(profile.accents === 'transliterate' ? { accents: profile.accents } : {}),
    // Without it the run sees attempts of its own.
    ...(facts?.newest ? { seen: facts.newest } : {}),
    settings: dependencies.config.protocol,
    searchAttributes: await dependencies.registeredSearchAttributes(),
    consentTrust: profile.consentTrust,
    ...(dependencies.permits.get(profile.name)?.forWorkflowQueue ? ({ submitsOnWorkflowQueue: true } as const) : {}),
    ...(profile.webhooks?.length ? ({ sendsEvents: true } as const) : {}),
    ...defined({ runbookUrl: dependencies.config.runbookUrl }),
    token: token ?? (await preflight(dependencies, profile)),
  };
}

/** `null` where the ledger does not answer: that is no reason to refuse a start. */
export async function ifAnswered<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return null;
    throw error;
  }
}

interface OwnerInput {
  /** As the ledger has it (model/owner-id.ts). */
  ownerId: string;
  /** JSON pointer to the caller's own id. */
  path: string;
}

/**
 * Checks that the workflow id is made of the caller's id, so that one id is one run. Refuses an id that was disposed
 * of.
 */
export function ownerProblems(owner: OwnerInput, facts: StartFacts | null): Problem[] {
  const isDisposed = facts?.disposedAt !== undefined;
  return [
    ...workflowIdProblems(owner),
    ...(isDisposed ? [{ path: owner.path, rule: 'was disposed of: choose another id' }] : []),
  ];
}

function workflowIdProblems({ ownerId, path }: OwnerInput): Problem[] {
  const { workflowId } = activityInfo().workflowExecution ?? {};
  const wanted = workflowIdOf(ownerId);
  if (workflowId === wanted) return [];
  return [{ path, rule: `must be the workflow id without its "${wanted.slice(0, wanted.indexOf('-') + 1)}"` }];
}

/**
 * The tables of the interface have the last word (2.3, 2.6, 4.3), before a single attempt is claimed.
 *
 * @throws InvalidInputError as `buildRequest`
 */
export function checkRequestCanBeBuilt(
  profile: GatewayProfile,
  asked: Pick<InquiryDescription, 'productCode' | 'endUserCode' | 'endUser' | 'permissiblePurposeCode'>,
  content: Omit<InquiryContent, 'inquiry'>,
): void {
  const { environment, name, customerId } = profile;
  const inquiry = {
    ...asked,
    ...{ environment, customerId, profile: name, workflowType: '', ownerId: '', ordinal: 0 },
    customerTraceNumber: 'PREFLIGHT',
  };
  buildRequest(profile, contentAsSent(profile, { ...content, inquiry }), new Date());
}

/** Half of the activity's start-to-close time-out, so that a token service that hangs is an answer, not a time-out. */
const PREFLIGHT_TIMEOUT_MS = 10_000;

/**
 * Asks for a token. A token service that is down or refuses does not fail the start: the first inquiry asks again, and
 * waits.
 */
export async function preflight(
  dependencies: ActivityDependencies,
  profile: GatewayProfile,
): Promise<PreparedRun['token']> {
  const tooLong = AbortSignal.timeout(PREFLIGHT_TIMEOUT_MS);
  try {
    await dependencies.tokens.get(profile, { signal: AbortSignal.any([cancellationSignal(), tooLong]) });
    return 'ready';
  } catch (error) {
    if (tooLong.aborted) return 'unavailable';
    if (error instanceof GatewayError) return error.code === 'CredentialsRefused' ? 'refused' : 'unavailable';
    throw error;
  }
}
