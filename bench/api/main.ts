/**
 * `npm run api-bench`: what the HTTP API costs, on real processes: server, sandbox, one worker, one copy of the API.
 * Prints each run and its findings as tables of Markdown. docs/performance.md has what was reached.
 */
import { loadavg } from 'node:os';
import { type LedgerEngine, type Site, startSite } from '../load/site.ts';
import { ledgerEngine, oneOf, readOptions } from '../options.ts';
import type { Part } from '../overload/finding.ts';
import { type BenchApi, startBenchApi } from './api-program.ts';
import { foreign } from './foreign.ts';
import { holds } from './holds.ts';
import { starts } from './starts.ts';
import { steady } from './steady.ts';
import { waiting } from './waiting.ts';

const PARTS = ['starts', 'steady', 'waiting', 'holds', 'foreign'] as const;
type PartName = (typeof PARTS)[number];

const USAGE = `npm run api-bench -- [--only starts|steady|waiting|holds|foreign]... [--ledger postgres] [--quick] [--profile DIR] [--json]

  --only PART    that part alone; may be given again (default: all five)
  --ledger NAME  sqlite (default) or postgres; 'holds' takes both, one after the other
  --quick        fewer of everything: some three minutes
  --profile DIR  a CPU profile of the API for each part, written there
  --json         one JSON document

Without --quick some fifteen minutes: 5 pairs of 100 starts; 200 requests a second for 60 s; 5,000 callers that wait for 500
runs; 10,000 open holds; 10 rounds of 100 refused reads.`;

const LIMIT_MS = 30 * 60_000;

const options = readOptions(
  USAGE,
  {
    only: { type: 'string', multiple: true },
    ledger: { type: 'string', default: 'sqlite' },
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
  ({ only, ledger, ...values }) => ({
    ...values,
    parts: (only ?? PARTS).map((one) => oneOf(PARTS, one, '--only')),
    ledger: ledgerEngine(ledger),
  }),
);
const say = (text: string) => console.error(`  ${text}`);
// Ends a run that a part does not end.
setTimeout(() => process.exit(1), LIMIT_MS).unref();

const parts: Part[] = [];
for (const name of options.parts) {
  for (const ledger of name === 'holds' ? (['sqlite', 'postgres'] as const) : [options.ledger]) {
    console.error(`${name} on ${ledger} (load ${loadavg()[0]?.toFixed(1)})`);
    const part = await measured(name, ledger).catch((error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    });
    if (!part) continue;
    parts.push(part);
    // At once: a later one may be stopped.
    if (!options.json) console.log(`${markdown(part)}\n`);
  }
}
if (options.json) console.log(JSON.stringify(parts, null, 2));
process.exit();

/** Each has a site of its own, so that none affects the next one's figures. */
async function measured(name: PartName, ledger: LedgerEngine): Promise<Part> {
  const site = await startSite({ ledger, env: { GATEWAY_CONNECTIONS: '50' } });
  try {
    // It makes the ledger. Where none is wanted it ends before anything is measured.
    await site.startWorker('worker 1');
    if (name === 'starts' || name === 'holds') await site.stopWorker('worker 1');
    const api = await startBenchApi(site, options.profile);
    try {
      return await run(name, ledger, site, api);
    } finally {
      await api.stop();
    }
  } finally {
    await site.close();
  }
}

function run(name: PartName, ledger: LedgerEngine, site: Site, api: BenchApi): Promise<Part> {
  const { quick } = options;
  switch (name) {
    case 'starts':
      return starts(site, api, { pairs: quick ? 2 : 5, rounds: quick ? 30 : 100, say });
    case 'steady':
      return steady(site, api, { perSecond: 200, seconds: quick ? 10 : 60, journeys: quick ? 30 : 100, say });
    case 'waiting':
      return waiting(site, api, {
        ...(quick ? { polls: 1_000, runs: 100, quietSeconds: 10 } : { polls: 5_000, runs: 500, quietSeconds: 25 }),
        say,
      });
    case 'holds':
      return holds(site, api, { ledger, holds: quick ? 1_000 : 10_000, rounds: quick ? 20 : 100, say });
    case 'foreign':
      return foreign(site, api, { pairs: quick ? 4 : 10, rounds: quick ? 50 : 100, say });
  }
}

/** Ready for docs/performance.md. */
function markdown({ title, run: what, findings }: Part): string {
  const rows = findings.map(({ what: line, figure }) => `| ${line.replace(/^ {2}/, '… ')} | ${figure} |`);
  return [`**${title}**: ${what}.`, '', '| | |', '| --- | ---: |', ...rows].join('\n');
}
