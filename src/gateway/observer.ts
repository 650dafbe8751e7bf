/** Who watches what the gateway client and the token source do: metrics and traces, of which neither knows anything. */
import type { Answer } from '../model/inquiry.ts';
import type { ProductCode } from '../model/products.ts';
import { GatewayError, type GatewayErrorCode } from './errors.ts';
import type { GatewayProfile } from './profile.ts';

/** An exchange that begins. Nothing of the request but its kind. */
export interface ExchangeBegun {
  profile: GatewayProfile;
  /** Absent for the token service. */
  productCode?: ProductCode;
  /** Which attempt of its inquiry it is, where the caller said so. */
  attempt?: number;
  /** Without path and query. */
  url: URL;
}

export interface ExchangeEnded {
  /** From when it was asked for, so with the wait for a connection. */
  durationMs: number;
  /** Absent where no answer came. */
  httpStatus?: number;
  /** What the answer came to. */
  answer?: Answer['kind'];
  /** Absent where it went well, or was given up before the first byte. */
  failure?: GatewayErrorCode;
  /** As `GatewayClient.markersBroken`. */
  markersBroken?: boolean;
}

/** Called at the beginning; what it returns, at the end. What either throws is dropped. */
export type ExchangeObserver = (begun: ExchangeBegun) => (ended: ExchangeEnded) => void;

/** Runs `work` between the observer's two calls; the outcome is the work's alone. */
export async function observed<T>(
  observer: ExchangeObserver | undefined,
  begun: ExchangeBegun,
  work: () => Promise<T>,
  endOf: (result: T | undefined) => Pick<ExchangeEnded, 'httpStatus' | 'answer' | 'markersBroken'>,
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
    tell({ ...endOf(undefined), ...factsOf(error) });
    throw error;
  }
}

function factsOf(error: unknown): Pick<ExchangeEnded, 'httpStatus' | 'failure'> {
  if (!(error instanceof GatewayError)) return {};
  return { failure: error.code, ...(error.httpStatus === undefined ? {} : { httpStatus: error.httpStatus }) };
}

/** Watching must never cost an attempt. */
function quietly<T>(watch: () => T): T | undefined {
  try {
    return watch();
  } catch {
    return undefined;
  }
}
