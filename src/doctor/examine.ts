/** `doctor`: every check, in the order in which they are told. */
import type { ConfigProblem } from '../config/environment-reader.ts';
import type { Config } from '../config-shape.ts';
import type { Check, CheckResult } from './check.ts';
import { clearStartsCheck } from './clear-starts-check.ts';
import { clockCheck } from './clock-check.ts';
import { codecServerChecks, type InspectedCodecServer } from './codec-server-check.ts';
import { configurationCheck } from './configuration-check.ts';
import { createContext } from './context.ts';
import { deploymentCheck } from './deployment-check.ts';
import { gatewayChecks } from './gateway-checks.ts';
import { holdsCheck } from './holds-check.ts';
import { keyRingCheck, ledgerKeysCheck } from './key-checks.ts';
import { ledgerCheck, ledgerDurabilityCheck } from './ledger-checks.ts';
import { ledgerWatchCheck } from './ledger-watch-check.ts';
import { markerCheck } from './marker-check.ts';
import { runChecks } from './run-checks.ts';
import { standingDecisionChecks } from './standing-decision-checks.ts';
import { namespaceCheck, searchAttributesCheck, temporalCheck } from './temporal-checks.ts';
import { tokenChecks } from './token-checks.ts';
import { trustChecks } from './trust-checks.ts';
import { webhookChecks } from './webhook-checks.ts';
import { webhookWorkerChecks, workerChecks } from './worker-checks.ts';

export interface Examination {
  /** Nothing fails; there may be warnings. */
  healthy: boolean;
  checks: CheckResult[];
}

/** As `inspectConfig` and `inspectCodecServer` give it. */
export interface Inspected {
  config: Config;
  problems: readonly ConfigProblem[];
  /** Absent: clients here go through none, and nothing is asked. */
  codecServer?: InspectedCodecServer | undefined;
}

export interface ExamineOptions {
  /** For each check. Default 10 s: above the time-outs of ledger and connection. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Looks at everything that a worker of this configuration needs. It sends nothing to a gateway, writes nothing, and
 * fetches one token for each profile.
 */
export async function examine(
  { config, problems, codecServer }: Inspected,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: ExamineOptions = {},
): Promise<Examination> {
  const context = createContext(config, problems, timeoutMs);
  try {
    const first = await runChecks(checksOf(config, codecServer), context, { timeoutMs });
    const checks = [...first, ...(await runChecks([clockCheck], context, { timeoutMs }))];
    return { healthy: checks.every(({ status }) => status !== 'fail'), checks };
  } finally {
    await context.close();
  }
}

function checksOf({ profiles }: Config, codecServer: InspectedCodecServer | undefined): Check[] {
  const all = [...profiles.values()];
  return [
    configurationCheck,
    keyRingCheck,
    ledgerCheck,
    ledgerDurabilityCheck,
    ledgerKeysCheck,
    ...codecServerChecks(codecServer),
    temporalCheck,
    namespaceCheck,
    ledgerWatchCheck,
    searchAttributesCheck,
    ...workerChecks(profiles.keys()),
    ...webhookWorkerChecks(all),
    deploymentCheck,
    ...tokenChecks(all),
    ...gatewayChecks(all),
    ...all.slice(0, 1).map(markerCheck),
    ...standingDecisionChecks(all),
    ...trustChecks(all),
    ...webhookChecks(all),
    clearStartsCheck,
    holdsCheck,
  ];
}
