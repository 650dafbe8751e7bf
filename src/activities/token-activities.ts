import { cancellationSignal } from '@temporalio/activity';
import type { JourneyActivities } from './contract.ts';
import { type ActivityDependencies, preparedProfile } from './dependencies.ts';
import { translating } from './failures.ts';

export function createTokenActivities(dependencies: ActivityDependencies): Pick<JourneyActivities, 'acquireToken'> {
  return {
    /**
     * The visible, durable wait while the token service is down. The token itself stays in this worker's memory;
     * only when it was fetched and when it expires is returned.
     *
     * @throws `TokenUnavailable` (repeated by Temporal's retry policy), `CredentialsRefused` (final).
     */
    acquireToken: ({ profile, fetchedAfter }) =>
      translating(async () => {
        const token = await dependencies.tokens.get(preparedProfile(dependencies, profile), {
          ...(fetchedAfter === undefined ? {} : { fetchedAfter }),
          signal: cancellationSignal(),
        });
        return { fetchedAt: token.fetchedAt, expiresAt: token.expiresAt };
      }, dependencies.config.protocol.retryAfterMaxMs),
  };
}
