/** `doctor`: every check, in the order in which it prints them. */
import type { inspectCodecServer, inspectConfig } from '../config/config.ts';
import { countWords } from '../words/writer.ts';
import {
  type Check,
  type CheckResult,
  createContext,
  defineCheck,
  describeRules,
  fail,
  pass,
  runChecks,
  warn,
} from './check.ts';
import * as gateway from './gateway-checks.ts';
import * as keys from './key-checks.ts';
import * as ledger from './ledger-checks.ts';
import * as temporal from './temporal-checks.ts';

/** The results of `inspectConfig` and `inspectCodecServer`. */
interface Inspected extends ReturnType<typeof inspectConfig> {
  /** Absent if clients use no codec server: then no check calls one. */
  codecServer?: ReturnType<typeof inspectCodecServer>;
  /** The key that the HTTP API signs decisions with. Absent: it signs nothing here. */
  signerFile?: string;
}

/** For each check: above the time-outs of ledger and connection. */
const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Examines the systems that a worker with this configuration needs. Sends no inquiry and writes no data; fetches one
 * token for each profile.
 */
export async function examine(inspected: Inspected, { timeoutMs = DEFAULT_TIMEOUT_MS } = {}) {
  const context = createContext(inspected.config, inspected.problems, timeoutMs);
  try {
    return toExamination(await runChecks(listChecks(inspected), context, timeoutMs));
  } finally {
    await context.close();
  }
}

export function toExamination(checks: CheckResult[]) {
  const counts = { pass: 0, warn: 0, fail: 0, unchecked: 0 };
  for (const { status } of checks) counts[status]++;
  // Warnings are possible.
  return { healthy: counts.fail + counts.unchecked === 0, counts, checks };
}

function listChecks({ config, codecServer, signerFile }: Inspected): Check[] {
  const profiles = [...config.profiles.values()];
  return [
    configurationCheck,
    keys.keyRingCheck,
    ledger.ledgerCheck,
    ledger.ledgerDurabilityCheck,
    keys.ledgerKeysCheck,
    ...(codecServer ? [keys.checkCodecServer(codecServer)] : []),
    temporal.temporalCheck,
    temporal.namespaceCheck,
    ledger.ledgerWatchCheck,
    temporal.searchAttributesCheck,
    ...temporal.createWorkerChecks(profiles),
    temporal.deploymentCheck,
    ...profiles.map(gateway.checkTokens),
    ...profiles.map(gateway.checkGateway),
    ...(signerFile === undefined ? [] : [keys.checkDecisionSigner(signerFile)]),
    ledger.pausesCheck,
    temporal.failingRunsCheck,
    ledger.holdsCheck,
    ledger.clockCheck,
  ];
}

const configurationCheck = defineCheck('configuration', null, async ({ config, problems }) => {
  if (problems.length > 0) {
    return fail(
      `${countWords(problems.length, 'rule')} broken: ${describeRules(problems)}`,
      'see docs/configuration.md',
    );
  }
  const { environment, taskQueue, profiles } = config;
  const rehearsals = [...profiles.values()].filter(({ rehearsal }) => rehearsal).map(({ name }) => name);
  const rehearsed = rehearsals.length === 0 ? '' : `, a rehearsal against a sandbox: ${rehearsals.join(', ')}`;
  const what = `${environment}, task queue ${taskQueue}, ${countWords(profiles.size, 'profile')}${rehearsed}`;
  return config.payloadsAreEncrypted
    ? pass(what)
    : warn(`${what}, payloads in the clear`, 'PAYLOAD_ENCRYPTION=off is for trying things out in the sandbox');
});
