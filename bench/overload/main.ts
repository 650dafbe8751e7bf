/**
 * `npm run overload`: far more journeys than the gateway's limit permits, on real processes: server, sandbox, two
 * workers on one ledger. Prints each run and its findings; exits with 1 where a bound was missed. docs/reliability.md
 */
import { loadavg } from 'node:os';
import { type Site, startSite } from '../load/site.ts';
import { ledgerEngine, oneOf, readOptions, whole } from '../options.ts';
import { dripping } from './dripping.ts';
import { fairness } from './fairness.ts';
import { isGood, type Part, table } from './finding.ts';
import { rate } from './rate.ts';
import { starving } from './starving.ts';
import { waiting } from './waiting.ts';

const PARTS = ['rate', 'starving', 'fairness', 'dripping', 'waiting'] as const;
type PartName = (typeof PARTS)[number];

const USAGE = `npm run overload -- [--only rate|starving|fairness|dripping|waiting]... [--journeys N] [--rate N] [--waiting N] [--at gate] [--ledger sqlite] [--quick] [--json]

  --only PART    that part alone; may be given again (default: all five)
  --journeys N   journeys of the flood in 'rate' (default 5000); 'starving' and 'fairness' take a fifth of it
  --rate N       the gateway's limit, inquiries a second (default 20)
  --waiting N    journeys that wait in 'waiting' (default 20000)
  --at gate      they wait at a gate before their first stage, and not for consent: quicker to make
  --ledger NAME  postgres (default) or sqlite
  --quick        300 journeys, 500 waiting, 20 consents in a round
  --json         one JSON document`;

const options = readOptions(
  USAGE,
  {
    only: { type: 'string', multiple: true },
    journeys: { type: 'string' },
    rate: { type: 'string' },
    waiting: { type: 'string' },
    at: { type: 'string', default: 'consent' },
    ledger: { type: 'string', default: 'postgres' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  ({ only, at, ledger, quick, json, ...values }) => ({
    parts: (only ?? PARTS).map((one) => oneOf(PARTS, one, '--only')),
    journeys: whole(values.journeys, quick ? 300 : 5_000),
    limit: whole(values.rate, 20),
    waiting: whole(values.waiting, quick ? 500 : 20_000),
    at: oneOf(['consent', 'gate'], at, '--at'),
    ledger: ledgerEngine(ledger),
    quick,
    json,
  }),
);
const say = (text: string) => {
  if (!options.json) console.error(`  ${text}`);
};

const parts: Part[] = [];
for (const name of options.parts) {
  if (!options.json) console.error(`${name} (load ${loadavg()[0]?.toFixed(1)})`);
  parts.push(await onSiteOf(name, (site) => run(name, site)));
}
console.log(options.json ? JSON.stringify(parts, null, 2) : table(parts));
process.exit(isGood(parts) ? 0 : 1);

function run(name: PartName, site: Site): Promise<Part> {
  const { journeys, limit } = options;
  const fifth = Math.ceil(journeys / 5);
  switch (name) {
    case 'rate':
      return rate(site, { journeys, limit, say });
    case 'starving':
      return starving(site, { batch: fifth, limit, say });
    case 'fairness':
      return fairness(site, { many: fifth, few: Math.ceil(fifth / 20), limit, say });
    case 'dripping':
      return dripping(site, { connections: 300, consents: options.quick ? 20 : 200, say });
    case 'waiting':
      return waiting(site, { journeys: options.waiting, at: options.at, quietSeconds: options.quick ? 15 : 60, say });
  }
}

/** Each part has a site of its own, so that no part affects the next one's figures. */
async function onSiteOf(name: PartName, work: (site: Site) => Promise<Part>): Promise<Part> {
  const env: Record<string, string> =
    name === 'waiting' ? { GATEWAY_CONNECTIONS: '50' } : { GATEWAY_MAX_INQUIRIES_PER_SECOND: String(options.limit) };
  const site = await startSite({ ledger: options.ledger, env });
  try {
    await site.startWorker('worker 1');
    if (name !== 'waiting') await site.startWorker('worker 2');
    return await work(site);
  } finally {
    await site.close();
  }
}
