/** Makes a version of the workers current within a time, and tells at its end what is current, or that it is not known. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { translatedServerError } from '../../../client/connection/error-translation.ts';
import { TemporalUnavailableError } from '../../../client/connection/errors.ts';
import {
  type DeploymentVersion,
  describeDeployment,
  PromotionRefusedError,
  PromotionUnansweredError,
  promote,
} from '../../../temporal/worker-deployment.ts';

/** How long one try may take: a server under load takes seconds for it. */
const TRY_MS = 10_000;

/** How long the last question may take, what is current. */
const ASK_MS = 5_000;

const RETRY_EVERY_MS = 500;

/** Thrown where the version was certainly not made current by this call. */
export class NotPromotedError extends Error {
  override readonly name = 'NotPromotedError';

  /** @param current absent where it could not be asked; `null` where no version is */
  constructor(why: string, current?: string | null) {
    super(`${why}. Nothing was promoted${current === undefined ? '' : `: ${currentInWords(current)}`}`);
  }
}

/** Thrown where the server was asked and has not answered, so that the version may still become current. */
export class PromotionUnknownError extends Error {
  override readonly name = 'PromotionUnknownError';

  constructor(buildId: string, current?: string | null) {
    const now = current === undefined ? 'what is current could not be asked' : `by now ${currentInWords(current)}`;
    super(
      `it is not known whether ${buildId} becomes current: Temporal has not answered, and ${now}. ` +
        '`credit-journey deploy status` shows it; to promote once more does no harm',
    );
  }
}

function currentInWords(current: string | null): string {
  return current === null ? 'no version is current' : `${current} is current`;
}

interface PromoteWithin {
  withinMs: number;
  ignoreMissingTaskQueues: boolean;
}

type Server = Pick<Connection, 'workflowService' | 'withDeadline'>;

/**
 * Tries until the version is current or the time is over. A try that got no answer is followed by a look at what is
 * current.
 *
 * @throws NotPromotedError, PromotionUnknownError, ManagedElsewhereError
 */
export async function promoteWithin(
  server: Server,
  namespace: string,
  version: DeploymentVersion,
  { withinMs, ignoreMissingTaskQueues }: PromoteWithin,
): Promise<{ previousBuildId?: string }> {
  const { workflowService } = server;
  const endsAt = performance.now() + withinMs;
  let unanswered: PromotionUnansweredError | undefined;
  for (;;) {
    const tried = await server
      .withDeadline(Date.now() + TRY_MS, () =>
        promote(workflowService, namespace, version, { ignoreMissingTaskQueues }),
      )
      .catch((error: unknown) => failureOf(error));
    if (!(tried instanceof Error)) return unanswered ? previousOf(unanswered) : tried;
    if (tried instanceof PromotionUnansweredError) unanswered ??= tried;
    const isOver = performance.now() >= endsAt || !isWorthAnotherTry(tried);
    if (unanswered || isOver) {
      const current = await currentVersion(server, namespace, version.deploymentName);
      if (unanswered && current === version.buildId) return previousOf(unanswered);
      if (isOver)
        throw unanswered
          ? new PromotionUnknownError(version.buildId, current)
          : new NotPromotedError(tried.message, current);
    }
    await delay(RETRY_EVERY_MS);
  }
}

/** What a bug throws passes through, as does what no waiting changes. */
function failureOf(error: unknown): Error {
  if (error instanceof PromotionUnansweredError || error instanceof PromotionRefusedError) return error;
  const told = translatedServerError(error);
  if (told instanceof Error && told !== error) return told;
  throw error;
}

function isWorthAnotherTry(error: Error): boolean {
  const worth = [PromotionUnansweredError, PromotionRefusedError, TemporalUnavailableError];
  return worth.some((kind) => error instanceof kind);
}

function previousOf({ previousBuildId }: PromotionUnansweredError): { previousBuildId?: string } {
  return previousBuildId === undefined ? {} : { previousBuildId };
}

/** `undefined` where the server does not say; `null` where no version is. */
async function currentVersion(server: Server, namespace: string, deploymentName: string) {
  const asked = server.withDeadline(Date.now() + ASK_MS, () =>
    describeDeployment(server.workflowService, namespace, deploymentName),
  );
  return asked.then(
    (view) => view?.currentBuildId ?? null,
    () => undefined,
  );
}
