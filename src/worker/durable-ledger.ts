/**
 * A ledger whose confirmed commits can be lost when another server takes over: production neither starts on it, nor
 * claims anything once it has become one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/config-shape.ts';
import { type DurabilityVerdict, judgeDurability } from '../ledger/database/durability.ts';
import { LedgerNotFoundError, LedgerUnavailableError } from '../ledger/errors.ts';
import type { Ledger } from '../ledger/port.ts';
import { inspectDurability } from '../ledger/sql/inspect-ledger.ts';
import type { OpenedLedger } from '../ledger/sql/own-state.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Thrown where a claim that was confirmed can be lost, and the inquiry then sent twice. */
export class LedgerNotDurableError extends Error {
  override readonly name = 'LedgerNotDurableError';
}

type JudgedConfig = Pick<Config, 'environment' | 'ledger'>;

function isJudged({ environment, ledger }: JudgedConfig): boolean {
  return environment !== 'sandbox' && !ledger.url.startsWith('file:');
}

/**
 * Looks before the worker claims anything; `watchDurability` looks again. What a person has accepted is logged at each
 * start, with the name that was given. Returns the verdict; `null` where there is none.
 *
 * @throws LedgerNotDurableError in production
 */
export async function requireDurableLedger(
  config: JudgedConfig,
  logger: { warn(fields: object, message: string): void } | undefined,
): Promise<DurabilityVerdict['kind'] | null> {
  const { environment, ledger } = config;
  if (!isJudged(config)) return null;
  const found = await inspectDurability(ledger.url).catch((error: unknown) => {
    // `LEDGER_URL` reports it.
    if (error instanceof LedgerUnavailableError || error instanceof LedgerNotFoundError) return null;
    throw error;
  });
  if (found === null) return null;
  const { kind, detail, toDo } = judgeDurability(found, ledger.durability);
  if (kind === 'loses' && environment === 'production') throw new LedgerNotDurableError(`${detail}: ${toDo}`);
  const { kind: durability } = ledger.durability;
  if (kind !== 'sound' || durability !== 'replication') {
    logger?.warn({ durability, finding: detail }, 'whether the ledger keeps what it has confirmed');
  }
  return kind;
}

export interface DurabilityWatch {
  /** In production, while confirmed commits can be lost: nothing may be claimed. */
  readonly holdsBack: boolean;
  close(): void;
}

interface Watched {
  /** What the start has found. */
  before: DurabilityVerdict['kind'] | null;
  metrics: Pick<Metrics, 'ledgerLosesCommits'>;
  logger: { warn(fields: object, message: string): void; error(fields: object, message: string): void } | undefined;
  /** About so long between two looks. */
  everyMs: number;
}

/**
 * Looks on the ledger's own connections, at intervals that differ from worker to worker. A ledger that does not answer
 * says nothing: what was found before stands. Each change is logged once.
 */
export function watchDurability(
  ledger: Pick<OpenedLedger, 'durability'>,
  config: JudgedConfig,
  { before, metrics, logger, everyMs }: Watched,
): DurabilityWatch {
  const end = new AbortController();
  let loses = before === 'loses';
  metrics.ledgerLosesCommits(loses);
  const look = async () => {
    const { kind, detail } = judgeDurability(await ledger.durability(), config.ledger.durability);
    const isNew = (kind === 'loses') !== loses;
    loses = kind === 'loses';
    metrics.ledgerLosesCommits(loses);
    if (!isNew) return;
    const fields = { durability: config.ledger.durability.kind, finding: detail };
    if (loses) logger?.error(fields, 'the ledger can lose what it confirms by now; production claims nothing on it');
    else logger?.warn(fields, 'the ledger keeps what it confirms again');
  };
  const watch = async () => {
    while (!end.signal.aborted) {
      await look().catch(() => {});
      await delay(everyMs * (0.75 + Math.random() / 2), undefined, { signal: end.signal, ref: false }).catch(() => {});
    }
  };
  if (isJudged(config)) void watch();
  return {
    get holdsBack() {
      return loses && config.environment === 'production';
    },
    close: () => end.abort(),
  };
}

/**
 * The same ledger, on which nothing is claimed while the watch holds back: as where it does not answer. How attempts
 * ended that are on the wire, consents and decisions are recorded all the same.
 */
export function claimedWhereDurable(ledger: Ledger, watch: Pick<DurabilityWatch, 'holdsBack'>): Ledger {
  const claim: Ledger['claim'] = async (request) => {
    if (watch.holdsBack) throw new LedgerUnavailableError('the ledger can lose what it confirms: nothing is claimed');
    return ledger.claim(request);
  };
  return new Proxy(ledger, {
    get(target, name) {
      if (name === 'claim') return claim;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
