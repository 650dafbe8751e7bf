/** `profile`: approves that runs go on under what their gateway profile became, and lists such approvals. */
import type { Command } from 'commander';
import type { GatewayProfile } from '../../../gateway/profile.ts';
import type { ApprovalVerdict, ApprovedChange, ProfileChange } from '../../../ledger/profile-changes.ts';
import {
  type AuthorizationOptions,
  checkedAuthorization,
  withAuthorizationOptions,
} from '../../decisions/authorization.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { commandLines } from '../../output/hold-lines.ts';
import { createOutput, type Output, table, withAge, wrap } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

interface ApproveOptions extends AuthorizationOptions, OutputOptions {
  profile: string;
  from: string;
}

export function registerProfileCommands(program: Command): void {
  const profile = program.command('profile').description('changes of a gateway profile under its runs');
  const approve = profile
    .command('approve-change')
    .description('let runs that started with the profile as it was go on with its new addresses')
    .option('--profile <name>', 'the gateway profile, as it is configured here', 'default')
    .requiredOption('--from <fingerprint>', 'the fingerprint that the held runs started with: their holds name it');
  withExamples(
    withOutputOptions(withAuthorizationOptions(approve)),
    `credit-journey profile approve-change --from ${'0'.repeat(32)}-${'0'.repeat(32)} \\
    --by ops-7 --reason "ticket 4712: the provider moved to grs_v002"`,
  );
  approve.action(approveChange);
  const list = profile.command('changes').description('every approved change, the oldest first');
  withExamples(withOutputOptions(list), 'credit-journey profile changes');
  list.action((options: OutputOptions) =>
    withLedger(async (ledger) => {
      const output = createOutput(options);
      const changes = await ledger.profileChanges.list();
      output.answer({ changes }, () => changeLines(changes, output));
    }),
  );
}

async function approveChange(options: ApproveOptions): Promise<void> {
  const authorization = checkedAuthorization(options);
  const output = createOutput(options);
  const profile = await configuredProfile(options.profile);
  const { tokenUrl, requestUrl } = await import('../../../gateway/addresses.ts');
  const change = await approvableChange(profile, options.from);
  const way = { tokenUrl: tokenUrl(profile).href, requestUrl: requestUrl(profile).href, audience: profile.audience };
  await withLedger(async (ledger) => {
    const approval = { profile: profile.name, ...change, way, ...authorization };
    const verdict = await ledger.profileChanges.approve(ledger.identity.ledgerId, approval);
    output.answer(verdict, () => approvalLines(verdict, output));
  });
}

/** @throws UsageError */
async function configuredProfile(name: string): Promise<GatewayProfile> {
  const { inspectConfig } = await import('../../../config/config.ts');
  const { profiles } = inspectConfig(process.env).config;
  const profile = profiles.get(name);
  if (profile) return profile;
  throw new UsageError(`--profile must be configured here, as for the workers: ${[...profiles.keys()].join(', ')}`);
}

const FINGERPRINT = /^[0-9a-f]{32}-[0-9a-f]{32}$/;

/** @throws UsageError where there is nothing to approve, or nobody may */
async function approvableChange(profile: GatewayProfile, from: string): Promise<ProfileChange> {
  const { isSameCustomer, profileFingerprint } = await import('../../../gateway/profile-fingerprint.ts');
  if (!FINGERPRINT.test(from)) throw new UsageError('--from must be a fingerprint, as the hold names it');
  const to = profileFingerprint(profile);
  if (from === to)
    throw new UsageError('--from is the fingerprint of the profile as it is configured here: nothing has changed');
  if (!isSameCustomer(from, to)) {
    throw new UsageError(
      '--from is of another customer, environment or software provider: nobody can approve that, only addresses, API version and audience',
    );
  }
  return { from, to };
}

function approvalLines({ kind, approval }: ApprovalVerdict, { width, colors }: Output): string[] {
  const { profile, way, by, approvedAt, reason } = approval;
  const words = `runs of the profile ${profile} go on with ${way.requestUrl}`;
  return [
    ...(kind === 'approved'
      ? wrap(words, width).map(colors.green)
      : wrap(`nothing has changed: ${words} since ${approvedAt}, approved by ${by}: ${reason}`, width)),
    ...wrap('what is held needs its decision still:', width, '  '),
    ...commandLines(
      'credit-journey resolve --all --type ProfileChanged --action resend --provider-said notAsked --by WHO --reason WHY',
      width,
      '  ',
    ),
  ];
}

function changeLines(changes: readonly ApprovedChange[], { width }: Output): string[] {
  if (changes.length === 0) return ['no change of a profile was ever approved'];
  const rows = changes.map(({ profile, approvedAt, from, way, by, reason }) => [
    profile,
    withAge(approvedAt),
    from.slice(-8),
    way.requestUrl,
    by,
    reason,
  ]);
  return table([['PROFILE', 'APPROVED', 'FROM …', 'TO', 'BY', 'REASON'], ...rows], width);
}
