/** What the checks share: the configuration, one connection to Temporal, one look at the ledger, the clocks. */
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import type { Config } from '../../config/config.ts';
import { inspectLedger, type LedgerInspection } from '../../ledger/inspect-ledger.ts';
import type { ConfigProblem } from '../../model/problems.ts';
import { type KeyRing, loadKeyRing } from '../../protection/keys/key-ring.ts';
import { keyRingExists } from '../../protection/keys/open-key-ring.ts';
import { NotCheckedError } from './finding.ts';

/** How far another clock is ahead of ours, as far as it can be measured. */
interface ClockSample {
  whose: string;
  aheadMs: number;
}

export interface DoctorContext {
  config: Config;
  /** What is wrong with the configuration. */
  problems: readonly ConfigProblem[];
  /** @throws NotCheckedError where there is no connection */
  temporal(): Promise<Client>;
  /** @throws what `Connection.connect` does */
  connect(): Promise<Client>;
  /** @throws NotCheckedError where it cannot be looked at */
  ledger(): Promise<LedgerInspection>;
  /** @throws LedgerNotFoundError, LedgerUnavailableError */
  inspect(): Promise<LedgerInspection>;
  /** `null` where there is none yet and one may be made. @throws KeyRingError */
  keys(): Promise<KeyRing | null>;
  /** Filled by the checks that talk to a server with a clock. */
  clocks: ClockSample[];
  close(): Promise<void>;
}

/** @param timeoutMs of each check: a connection is given up within half of it, so that the check can report that */
export function createContext(config: Config, problems: readonly ConfigProblem[], timeoutMs: number): DoctorContext {
  const connect = once(async () => {
    const connection = await Connection.connect({
      ...config.temporal.connectionOptions,
      connectTimeout: timeoutMs / 2,
    });
    return new Client({ connection, namespace: config.temporal.namespace });
  });
  const inspect = once(() => inspectLedger(config.ledger.url));
  const keys = once(() => readKeys(config));
  return {
    config,
    problems,
    connect: connect.get,
    temporal: () => connect.get().catch(notChecked('Temporal cannot be reached')),
    inspect: inspect.get,
    ledger: () => inspect.get().catch(notChecked('the ledger cannot be read')),
    keys: keys.get,
    clocks: [],
    close: async () => {
      if (!connect.isAsked()) return;
      const client = await connect.get().catch(() => null);
      await client?.connection.close();
    },
  };
}

function once<T>(make: () => Promise<T>): { get: () => Promise<T>; isAsked: () => boolean } {
  let made: Promise<T> | undefined;
  const get = () => {
    made ??= make();
    return made;
  };
  return { get, isAsked: () => made !== undefined };
}

/** The check of that server says what is wrong with it. */
function notChecked(why: string): (error: unknown) => never {
  return (error) => {
    throw isOwnFault(error) ? error : new NotCheckedError(why);
  };
}

/** A bug in this program, which says nothing about a server. */
export function isOwnFault(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind);
}

async function readKeys({ keyRingFile, keyRingMayBeMade }: Config): Promise<KeyRing | null> {
  if (keyRingMayBeMade && !(await keyRingExists(keyRingFile))) return null;
  return loadKeyRing(keyRingFile);
}

/** By their numbers. Importing `@grpc/grpc-js` for their names would be one more dependency. */
const GRPC_CODES: Readonly<Record<number, string>> = {
  1: 'CANCELLED',
  2: 'UNKNOWN',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  12: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
};

/** `PERMISSION_DENIED` and the like. */
export function grpcCodeOf({ code }: { code: number }): string {
  return GRPC_CODES[code] ?? `code ${code}`;
}

/** Why Temporal refused; `other` where its error does not say. */
export function refusalOf(error: unknown): 'notFound' | 'notAllowed' | 'notKnown' | 'other' {
  switch (isGrpcServiceError(error) ? grpcCodeOf(error) : '') {
    case 'NOT_FOUND':
      return 'notFound';
    case 'PERMISSION_DENIED':
    case 'UNAUTHENTICATED':
      return 'notAllowed';
    // It lacks the operation, or what the question names.
    case 'UNIMPLEMENTED':
    case 'INVALID_ARGUMENT':
      return 'notKnown';
    default:
      return 'other';
  }
}
