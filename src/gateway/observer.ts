/**
 * The observer of the gateway client and the token source: metrics and traces implement it, and neither class knows
 * them.
 */

import type { GatewayFailureType } from '../model/failure-types.ts';
import type { Answer } from '../model/inquiry.ts';
import type { ProductCode } from '../model/products.ts';
import { GatewayError } from './errors.ts';
import type { GatewayProfile } from './profile.ts';

/** The start of an exchange. It names only the kind of the request. */
export interface ExchangeBegun {
  profile: GatewayProfile;
  /** Absent for the token service. */
  productCode?: ProductCode;
  /** The number of the attempt within its inquiry, where the caller gave it. */
  attempt?: number;
  /** Without path and query. */
  url: URL;
}

export interface ExchangeEnded {
  /** Measured from the caller's request, so the wait for a connection is included. */
  durationMs: number;
  /** Absent where no answer came. */
  httpStatus?: number;
  answer?: Answer['kind'];
  /** Absent after a success, and where the caller abandoned it before the first byte. */
  failure?: GatewayFailureType;
  /** See `GatewayClient.startsAreUnreported`. */
  startsAreUnreported?: boolean;
}

/** Called at the start; the function that it returns is called at the end. Errors of either are dropped. */
export type ExchangeObserver = (begun: ExchangeBegun) => (ended: ExchangeEnded) => void;

/** Runs `work` between the observer's two calls. The observer cannot change the outcome. */
export async function observe<T>(
  observer: ExchangeObserver | undefined,
  begun: ExchangeBegun,
  work: () => Promise<T>,
  endOf: (result: T | undefined) => Pick<ExchangeEnded, 'httpStatus' | 'answer' | 'startsAreUnreported'>,
): Promise<T> {
  if (!observer) return work();
  const startedAt = performance.now();
  const end = quietly(() => observer(begun));
  const tell = (facts: Omit<ExchangeEnded, 'durationMs'>) =>
    quietly(() => end?.({ durationMs: performance.now() - startedAt, ...facts }));
  try {
    const result = await work();
    tell(endOf(result));
    return result;
  } catch (error) {
    const facts = error instanceof GatewayError ? { failure: error.code, httpStatus: error.httpStatus } : {};
    tell({ ...endOf(undefined), ...facts });
    throw error;
  }
}

/** An error of an observer must never cost an attempt. */
function quietly<T>(watch: () => T): T | undefined {
  try {
    return watch();
  } catch {
    return undefined;
  }
}
