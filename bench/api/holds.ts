/** The list of what needs a person with very many open, and no worker: by the ledger alone. */

import type { RunHold } from '../../src/ledger/holds/holds.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { InquiryDescription } from '../../src/model/inquiry.ts';
import { loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import type { LedgerEngine, Site } from '../load/site.ts';
import { type Part, plain } from '../overload/finding.ts';
import { residentBytes } from '../processes.ts';
import { quantile } from '../report.ts';
import { type BenchApi, call, callerToken } from './api-program.ts';

export interface HoldsOptions {
  ledger: LedgerEngine;
  holds: number;
  rounds: number;
  say(text: string): void;
}

const MEGABYTE = 1024 * 1024;
const END_USERS = ['EU100', 'EU200', 'EU300'];
const REASONS = ['GatewayUnreachable', 'OutcomeUnknown', 'RequestRefused'] as const;

export async function holds(
  site: Site,
  api: BenchApi,
  { ledger, holds: count, rounds, say }: HoldsOptions,
): Promise<Part> {
  await fill(site, count);
  say(`${count} are open`);
  const everything = await callerToken(1);
  const timed = async (route: string) => {
    const took: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const beganAt = performance.now();
      await call(api, route, { token: everything }, [200]);
      took.push(performance.now() - beganAt);
    }
    return took;
  };
  const beganAt = performance.now();
  const { json } = await call(api, '/v1/holds?limit=50', { token: everything }, [200]);
  const firstMs = performance.now() - beganAt;
  if (json.data.length !== 50) throw new Error('the first page is not whole');
  const page = await timed('/v1/holds?limit=50');
  const next = await timed(`/v1/holds?limit=50&after=${encodeURIComponent(json.next)}`);
  const filtered = await timed('/v1/holds?limit=50&kind=held&endUserCode=EU200');
  const counts = await timed('/v1/holds/counts');
  const lines = (what: string, took: readonly number[]) => [
    plain(`${what}, p50, ms`, quantile(took, 0.5)),
    plain(`${what}, p95, ms`, quantile(took, 0.95)),
  ];
  return {
    title: `holds on ${ledger === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`,
    run: `${count} open holds, no worker; ${rounds} times each, one at a time, a token for everything`,
    findings: [
      plain('first page (50), the first time, ms', firstMs),
      ...lines('first page (50)', page),
      ...lines('second page', next),
      ...lines('first page of one end user', filtered),
      ...lines('counts', counts),
      plain('API memory, MB', residentBytes(api.program.pid) / MEGABYTE),
    ],
  };
}

/** As runs open their holds. */
async function fill({ env }: Site, count: number): Promise<void> {
  const keyRing = await loadKeyRing(env.KEY_RING_FILE ?? '');
  const ledger = await openLedger({ url: env.LEDGER_URL ?? '', environment: 'sandbox', keyRing, create: true });
  try {
    const beganAt = Date.now() - count * 1_000;
    for (let nth = 0; nth < count; nth++) {
      await ledger.tasks.openHold(ledger.identity.ledgerId, holdOf(nth, new Date(beganAt + nth * 1_000).toISOString()));
    }
  } finally {
    await ledger.close();
  }
}

function holdOf(nth: number, since: string): RunHold {
  const runKey = `HELD-${nth}`;
  const inquiry: InquiryDescription = {
    environment: 'sandbox',
    profile: 'default',
    customerId: 'BENCH',
    workflowType: 'lendingJourney',
    ordinal: 0,
    runKey,
    productCode: 'PREQUAL',
    customerTraceNumber: `${runKey}-PQ0-BENCH`,
    endUserCode: END_USERS[nth % END_USERS.length] ?? '',
  };
  return { inquiry, reason: REASONS[nth % REASONS.length] ?? 'OutcomeUnknown', since, attempt: 1 };
}
