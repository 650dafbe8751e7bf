/**
 * Checks whether a worker is ready: it polls, on the ledger that it was started with, with keys, and with markers that
 * hold. Its version does not count. A worker that waits for promotion is promoted because it is ready. One that drains
 * serves the runs that are pinned to it.
 */
import { setInterval } from 'node:timers/promises';
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { LedgerChangedError } from '../ledger/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { WatchedKeyRing } from '../protection/keys/key-ring.ts';
import type { ReadinessCheck } from './readiness.ts';

export interface WorkerParts {
  workers: readonly Pick<Worker, 'getState'>[];
  connection: Pick<NativeConnection, 'withDeadline' | 'workflowService'>;
  ledger: Pick<Ledger, 'identity' | 'lookUp' | 'restoreState'>;
  keys: Pick<WatchedKeyRing, 'lastReloadFailed'>;
  gateways: ReadonlyMap<string, Pick<GatewayClient, 'startsAreUnreported'>>;
  /** Aborted once the ledger requires a newer program. */
  tooOld: { readonly aborted: boolean };
  /** Whether the ledger can lose what it confirms, where production does not permit that. */
  mayLoseClaims(): Promise<boolean>;
}

const SERVER_TIMEOUT_MS = 1_000;
/** No inquiry has it: trace numbers have 28 characters. */
const NO_TRACE_NUMBER = 'READINESS';

export function readinessChecks(parts: WorkerParts): Record<string, ReadinessCheck> {
  const { workers, connection, ledger, keys, gateways, tooOld, mayLoseClaims } = parts;
  return {
    polling: () => (workers.every((worker) => worker.getState() === 'RUNNING') ? null : 'is stopping'),
    temporal: async () => {
      await connection.withDeadline(Date.now() + SERVER_TIMEOUT_MS, () => connection.workflowService.getSystemInfo({}));
      return null;
    },
    // The identity is read from the database each time: another one may answer at the same address by now.
    ledger: async () => {
      if (tooOld.aborted) return 'asks for newer workers';
      try {
        if (await mayLoseClaims()) return 'can lose what it confirms: see `doctor`';
        await ledger.lookUp(ledger.identity.ledgerId, NO_TRACE_NUMBER);
        const { lost } = await ledger.restoreState();
        return lost ? 'is an older copy, and nothing is sent until `ledger accept-restore`' : null;
      } catch (error) {
        return error instanceof LedgerChangedError
          ? 'is not the one that the worker was started with'
          : 'does not answer';
      }
    },
    keys: () => (keys.lastReloadFailed ? 'the key ring was changed into something that cannot be used' : null),
    markers: () => {
      const broken = [...gateways].filter(([, { startsAreUnreported }]) => startsAreUnreported).map(([name]) => name);
      return broken.length === 0 ? null : `are broken, and nothing is sent: ${broken.join(', ')}`;
    },
  };
}

/** The ledger refuses claims in any case: this only decides how soon newer workers get the work. */
const ASKED_EVERY_MS = 2_000;

/**
 * Notices that the ledger takes no more writes from this program version, so that its worker stops. `tooOld` is then
 * aborted, for good.
 */
export function watchWriter(
  ledger: Pick<Ledger, 'mayWrite'>,
  askedEveryMs = ASKED_EVERY_MS,
): { tooOld: AbortSignal; close(): void } {
  const [tooOld, closing] = [new AbortController(), new AbortController()];
  const watch = async () => {
    for await (const _ of setInterval(askedEveryMs, undefined, { signal: closing.signal })) {
      // An unreachable ledger gives no information about versions.
      if (!(await ledger.mayWrite().catch(() => true))) return tooOld.abort();
    }
  };
  watch().catch(() => {});
  return { tooOld: tooOld.signal, close: () => closing.abort() };
}
