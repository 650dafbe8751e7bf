/**
 * `npm run fuzz -- [--seed N] [--cases 100000] [--only gateway|validators|codec|cli|messages|api] [--property name [--path p]]`:
 * runs the product on malformed inputs that a seed generates. Exits with 1 if a property fails (docs/reliability.md).
 */
import { parseArgs } from 'node:util';
import { type FuzzReport, fuzz } from './fuzz.ts';
import { isTargetName, TARGET_NAMES } from './targets.ts';

const USAGE = `usage: npm run fuzz -- [--seed N] [--cases N] [--only ${TARGET_NAMES.join('|')}] [--property name [--path p]]`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    cases: { type: 'string', default: '100000' },
    only: { type: 'string' },
    property: { type: 'string' },
    path: { type: 'string' },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const cases = Number(values.cases);
const only = values.only;
if (
  !Number.isSafeInteger(seed) ||
  !Number.isSafeInteger(cases) ||
  cases < 1 ||
  (only !== undefined && !isTargetName(only))
) {
  console.error(USAGE);
  process.exit(2);
}
console.log(`fuzz seed ${seed}`);
const report: FuzzReport = await fuzz({
  seed,
  cases,
  targets: only !== undefined && isTargetName(only) ? [only] : TARGET_NAMES,
  ...(values.property === undefined ? {} : { property: values.property }),
  ...(values.path === undefined ? {} : { path: values.path }),
  onLine: (line) => console.log(line),
});
console.log(`fuzz seed ${seed}: ${report.cases} cases, ${report.failures.length} failed`);
// Sockets that a failing case left open must not hold it up.
process.exit(report.failures.length === 0 && report.cases > 0 ? 0 : 1);
