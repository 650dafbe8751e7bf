/** `doctor`: every check, in the order in which it prints them. */

import type { Config, DecisionKey } from '../config/config.ts';
import type { ConfigProblem } from '../model/problems.ts';
import type { Check, CheckResult } from './checks/check.ts';
import { clearStartsCheck } from './checks/clear-starts-check.ts';
import { clockCheck } from './checks/clock-check.ts';
import { codecServerChecks, type InspectedCodecServer } from './checks/codec-server-check.ts';
import { configurationCheck } from './checks/configuration-check.ts';
import { createContext } from './checks/context.ts';
import { decisionSignerChecks } from './checks/decision-signer-check.ts';
import { deploymentCheck } from './checks/deployment-check.ts';
import type { Finding } from './checks/finding.ts';
import { gatewayChecks } from './checks/gateway-checks.ts';
import { failingRunsCheck, holdsCheck } from './checks/holds-check.ts';
import { keyRingCheck, ledgerKeysCheck } from './checks/key-checks.ts';
import { ledgerCheck, ledgerDurabilityCheck } from './checks/ledger-checks.ts';
import { ledgerWatchCheck } from './checks/ledger-watch-check.ts';
import { markerCheck } from './checks/marker-check.ts';
import { pausesCheck } from './checks/pauses-check.ts';
import { runChecks } from './checks/run-checks.ts';
import { standingDecisionChecks } from './checks/standing-decision-checks.ts';
import { namespaceCheck, searchAttributesCheck, temporalCheck } from './checks/temporal-checks.ts';
import { tokenChecks } from './checks/token-checks.ts';
import { trustChecks } from './checks/trust-checks.ts';
import { webhookChecks } from './checks/webhook-checks.ts';
import { webhookWorkerChecks, workerChecks } from './checks/worker-checks.ts';

export interface Examination {
  /** Every check was made and nothing fails; there may be warnings. */
  healthy: boolean;
  /** How many checks ended how: together as many as `checks` has. */
  counts: Record<Finding['status'], number>;
  checks: CheckResult[];
}

/** As `inspectConfig` and `inspectCodecServer` give it. */
interface Inspected {
  config: Config;
  problems: readonly ConfigProblem[];
  /** Absent: clients here go through none, and nothing is asked. */
  codecServer?: InspectedCodecServer | undefined;
  /** Absent: the HTTP API signs nothing here. */
  signer?: DecisionKey | undefined;
}

interface ExamineOptions {
  /** For each check. Default 10 s: above the time-outs of ledger and connection. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Looks at everything that a worker of this configuration needs. It sends nothing to a gateway, writes nothing, and
 * fetches one token for each profile.
 */
export async function examine(
  { config, problems, codecServer, signer }: Inspected,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: ExamineOptions = {},
): Promise<Examination> {
  const context = createContext(config, problems, timeoutMs);
  try {
    const first = await runChecks(checksOf(config, codecServer, signer), context, { timeoutMs });
    const checks = [...first, ...(await runChecks([clockCheck], context, { timeoutMs }))];
    return examinationOf(checks);
  } finally {
    await context.close();
  }
}

export function examinationOf(checks: CheckResult[]): Examination {
  const counts = { pass: 0, warn: 0, fail: 0, unchecked: 0 };
  for (const { status } of checks) counts[status]++;
  return { healthy: counts.fail + counts.unchecked === 0, counts, checks };
}

function checksOf({ profiles }: Config, codecServer: Inspected['codecServer'], signer: Inspected['signer']): Check[] {
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
    ...decisionSignerChecks(signer),
    ...webhookChecks(all),
    clearStartsCheck,
    pausesCheck,
    failingRunsCheck,
    holdsCheck,
  ];
}
