/** The messages of callers as operations of the HTTP API. */

import { ID_NAMES, parseRunKey, type RunKind } from '../../../src/model/run-key.ts';
import type { Scope } from '../../../src/operations/scopes.ts';

export interface Operation {
  /** `start`, or the name of the run's update. */
  message: string;
  /** The run key of the run that the call is about. */
  runKey: string;
  path: string;
  /** The message without the members that the path and the token contain. */
  body: object;
}

const COLLECTIONS: Record<RunKind, string> = {
  journey: '/v1/journeys',
  pull: '/v1/pulls',
  share: '/v1/shares',
  portfolio: '/v1/portfolio-reviews',
};

/** The end of the path, by update. */
const ENDS: Record<string, string> = {
  ...{ advance: 'advance', requestShare: 'shares', extend: 'extend', withdraw: 'withdrawal' },
  ...{ resolveInquiry: 'decisions', pause: 'pause', resume: 'resume' },
};

export const CONSENT_SCOPES: readonly Scope[] = ['consents:record'];
export const OPERATOR_SCOPES: readonly Scope[] = ['holds:read', 'holds:decide', 'portfolios:control'];
export const PLATFORM_SCOPES: readonly Scope[] = [
  ...(['journeys:start', 'journeys:read', 'journeys:advance', 'journeys:withdraw', 'shares:request'] as const),
  ...(['shares:withdraw', 'pulls:start', 'portfolios:start'] as const),
];

export function startOf(runKey: string, input: object): Operation {
  return { message: 'start', runKey, path: COLLECTIONS[parseRunKey(runKey).kind], body: input };
}

/** @param message as the run takes it */
export function messageOf(runKey: string, name: string, message: object): Operation {
  const { kind, id } = parseRunKey(runKey);
  if (name === 'recordConsent') return { message: name, runKey, path: '/v1/consents', body: message };
  const run = `${COLLECTIONS[kind]}/${id}`;
  const { by: _, journeyId: __, [ID_NAMES[kind]]: ___, ...body } = message as Record<string, unknown>;
  if (name !== 'withdrawShare') return { message: name, runKey, path: `${run}/${ENDS[name]}`, body };
  const { shareId, ...rest } = body;
  return { message: name, runKey, path: `${run}/shares/${shareId}/withdrawal`, body: rest };
}
