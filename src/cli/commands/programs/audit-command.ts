import type { Command } from 'commander';
import type { ChainReport } from '../../../ledger/audit/audit-chain.ts';
import type { SeenAttempt } from '../../../messages/ledger-watch.ts';
import { connectOptions, type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

interface VerifyOptions extends ServerOptions {
  expectHead?: string;
}

export function registerAuditCommand(program: Command): void {
  const audit = program.command('audit').description('check the ledger against its audit chain');
  const verify = audit
    .command('verify')
    .description(
      'check every consent and decision against the audit chain: exits with 3 if anything does not fit, or attempts are missing',
    )
    .option('--expect-head <hash>', 'an earlier head that was kept elsewhere: the chain must contain it');
  withExamples(withServerOptions(verify), 'credit-journey audit verify');
  verify.action(async (options: VerifyOptions) => {
    const report = await verifyLedger(expectedHead(options), options);
    createOutput(options).answer(report);
    if (report.findings.length > 0 || report.lost) process.exitCode = EXIT.needsPerson;
  });
}

/** Short, since a running server answers at once. */
const WATCH_TIMEOUT_MS = 3_000;

function expectedHead({ expectHead }: VerifyOptions): { expectHead?: string } {
  if (expectHead === undefined) return {};
  if (!/^[0-9a-f]{64}$/i.test(expectHead)) throw new UsageError('--expect-head must be 64 hexadecimal digits');
  return { expectHead: expectHead.toLowerCase() };
}

/** `watch`: whether Temporal could be asked which newest attempt was seen in this ledger: an older copy lacks it. */
type Verified = ChainReport & { ledgerId: string; lost?: SeenAttempt; watch: 'asked' | 'notAsked' };

function verifyLedger(expected: { expectHead?: string }, options: ServerOptions): Promise<Verified> {
  return withLedger(async (ledger) => {
    const { ledgerId } = ledger.identity;
    const outside = await askWatch(ledgerId, options);
    const { lost } = await ledger.restoreState(outside?.seen);
    const report = await ledger.verifyChain(expected);
    return { ledgerId, ...report, watch: outside ? 'asked' : 'notAsked', ...(lost ? { lost } : {}) };
  });
}

/** `undefined` where Temporal cannot be asked: the ledger's own findings are printed all the same. */
async function askWatch(ledgerId: string, options: ServerOptions): Promise<{ seen?: SeenAttempt } | undefined> {
  const [{ CreditJourneys, getSdkClient }, { seenByWatch }] = await Promise.all([
    import('../../../client/credit-journeys.ts'),
    import('../../../client/seen-by-watch.ts'),
  ]);
  try {
    await using journeys = await CreditJourneys.connect({
      connectTimeoutMs: WATCH_TIMEOUT_MS,
      ...connectOptions(options),
      besideLedger: true,
    });
    const { taskQueue } = journeys;
    const client = getSdkClient(journeys);
    const until = Date.now() + WATCH_TIMEOUT_MS;
    const seen = await client.withDeadline(until, () => seenByWatch(client, { ledgerId, taskQueue }));
    return seen ? { seen } : {};
  } catch {
    return undefined;
  }
}
