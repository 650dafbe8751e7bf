/** Opens the worker's ledger as the command line or the client does, or locks every other writer out. */
import { DatabaseSync } from 'node:sqlite';
import type { CreditJourneys } from '../../src/client.ts';
import type { AuditedDecision } from '../../src/ledger/audit/audited.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { connectTo } from './harness-client.ts';
import type { Harness } from './journey-harness.ts';

type Configured = Pick<Harness, 'config'>;

export async function openLedgerOf({ config }: Configured): Promise<Ledger> {
  const keyRing = await openKeyRing({ ...config, keyRingMayBeMade: false });
  return openLedger({ url: config.ledger.url, environment: config.environment, keyRing });
}

export async function connectWithLedger(harness: Configured): Promise<{ journeys: CreditJourneys; ledger: Ledger }> {
  const ledger = await openLedgerOf(harness);
  return { journeys: await connectTo(harness, { openLedger: async () => ledger }), ledger };
}

/** Keeps every other writer out of an SQLite ledger until the returned function is called. */
export function lockLedger({ config }: Configured): () => void {
  const writer = new DatabaseSync(config.ledger.url.slice('file:'.length), { timeout: 60_000 });
  writer.exec('BEGIN IMMEDIATE');
  return () => {
    writer.exec('ROLLBACK');
    writer.close();
  };
}

/** Reads the decisions about a run or its inquiries, oldest first, without run ids and times. */
export async function decidedAbout(ledger: Ledger, runKey: string): Promise<Partial<AuditedDecision>[]> {
  const found: Partial<AuditedDecision>[] = [];
  for await (const one of ledger.decisionsBetween({ runKey })) {
    const { runKey: _, decidedAt: __, recordedAt: ___, ...decision } = one;
    found.push(decision);
  }
  return found;
}
