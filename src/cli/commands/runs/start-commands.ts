/** The commands that start runs: from a file, from options that the input's schema gives, or as a sample. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { journeyRoutes } from '../../../api/routes/journeys.ts';
import type { Started } from '../../../client.ts';
import { loadVariable } from '../../../config/environment.ts';
import { INPUTS } from '../../../messages/inputs/all-inputs.ts';
import type { LendingJourneyInput } from '../../../messages/inputs/lending-journey.ts';
import { parseMessage } from '../../../messages/inputs/parse-message.ts';
import type { PortfolioReviewInput } from '../../../messages/inputs/portfolio-review.ts';
import { choosePullInput, type PullInput } from '../../../messages/inputs/pull.ts';
import type { ShareReportInput } from '../../../messages/inputs/share-report.ts';
import type { Checked } from '../../../messages/message.ts';
import { InvalidInputError } from '../../../model/problems.ts';
import { PULL_PRODUCTS } from '../../../model/products.ts';
import { ID_NAMES, parseRunKey } from '../../../model/run-key.ts';
import type { LedgerJourneys } from '../../../operator/ledger-journeys.ts';
import { type AnyRun, requireRunKey, showStarted, withJourneys } from '../../decisions/journey-action.ts';
import { sampleJourney, samplePull } from '../../demo/sample-runs.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { readJson, readObject } from '../../output/json-input.ts';
import { asTyped, optionKey } from '../../output/option-names.ts';
import { createOutput } from '../../output/output.ts';
import { requireSandbox } from '../../output/require-sandbox.ts';
import {
  applyOptions,
  type Member,
  membersIn,
  namesByPath,
  optionFor,
  requireOwnOptions,
} from '../../output/schema-options.ts';
import { fillOperation, type OperationCommand } from '../operation-command.ts';

interface StartOptions extends ServerOptions {
  file?: string;
  watch?: boolean;
  batch?: boolean;
  [option: string]: unknown;
}

interface Start {
  definition: Checked;
  input: unknown;
  /** The option or argument that gives each member, by the member's path. */
  names: Readonly<Record<string, string>>;
  begin(journeys: LedgerJourneys): Promise<Started<AnyRun>>;
}

async function startRun({ definition, input, names, begin }: Start, options: StartOptions): Promise<void> {
  try {
    parseMessage(definition, input, { maxApplicants: loadVariable(process.env, 'GATEWAY_MAX_APPLICANTS') });
  } catch (error) {
    throw error instanceof InvalidInputError ? asTyped(error, names, options) : error;
  }
  process.exitCode = await withJourneys(options, async (journeys, output) => {
    const run = await begin(journeys);
    const { runKey, workflowId } = run;
    const { kind, id } = parseRunKey(runKey);
    const ids = { [ID_NAMES[kind]]: id, ...(kind === 'journey' ? {} : { id: runKey }) };
    const started = { ...ids, workflowId, taskQueue: journeys.taskQueue };
    return showStarted(run, started, output, options.watch);
  });
}

const WATCH = ['--watch', 'show its progress until it ends or needs a person'] as const;

export function fillStart(command: Command): void {
  command
    .option('--file <path>', 'JSON input of lendingJourney; - is standard input')
    .option('--sample', 'a made-up joint application, for the sandbox alone')
    .option('--journey-id <id>', 'with --sample: the journey’s id (default: a new one)')
    .option('--auto', 'with --sample: pass the gates without waiting for advance')
    .option('--lose-answer', 'with --sample: the gateway posts each inquiry and its first answer is lost')
    .option('--batch', 'batch work: other journeys go first when the gateway’s limit is reached')
    .option(...WATCH);
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey start --sample --auto --watch',
  );
  command.action(async (options: StartOptions) => {
    const { journeyId = `J-${randomUUID()}`, auto = false, loseAnswer = false } = options as SampleOptions;
    const sample = () => sampleJourney({ journeyId, auto, loseAnswer });
    const input = await readFileOrSample(options, sample, ['--journey-id', '--auto', '--lose-answer']);
    const names = { '/journeyId': '--journey-id' };
    const begin = (journeys: LedgerJourneys) => journeys.start(input as LendingJourneyInput, workClassIn(options));
    await startRun({ definition: INPUTS.lendingJourney, input, names, begin }, options);
  });
}

export function fillPull(command: Command): void {
  command
    .option('--file <path>', 'JSON input of creditReport or failsafeCheck; - is standard input')
    .option('--sample', 'a made-up applicant, for the sandbox alone')
    .option('--product <productCode>', `with --sample: ${PULL_PRODUCTS.join(', ')} (default: CR)`)
    .option('--pull-id <id>', 'with --sample: the pull’s id (default: a new one)')
    .option('--lose-answer', 'with --sample: the gateway posts the inquiry and its first answer is lost')
    .option('--batch', 'batch work: other pulls go first when the gateway’s limit is reached')
    .option(...WATCH);
  withExamples(
    withServerOptions(command),
    'credit-journey pull --sample --product REFUPD --pull-id P-1001 --watch',
    'credit-journey report pull:P-1001 REFUPD',
  );
  command.action(async (options: StartOptions) => {
    const { pullId = `P-${randomUUID()}`, product = 'CR', loseAnswer = false } = options as SampleOptions;
    const sample = () => {
      const productCode = PULL_PRODUCTS.find((candidate) => candidate === product);
      if (!productCode) throw new UsageError(`--product must be one of ${PULL_PRODUCTS.join(', ')}`);
      return samplePull({ pullId, productCode, loseAnswer });
    };
    const input = await readFileOrSample(options, sample, ['--product', '--pull-id', '--lose-answer']);
    const names = { '/pullId': '--pull-id' };
    const begin = (journeys: LedgerJourneys) => journeys.pull(input as PullInput, workClassIn(options));
    await startRun({ definition: choosePullInput(input), input, names, begin }, options);
  });
}

interface SampleOptions {
  journeyId?: string;
  pullId?: string;
  product?: string;
  auto?: boolean;
  loseAnswer?: boolean;
}

/** @param flags of the options that go with `--sample` */
async function readFileOrSample(
  options: StartOptions,
  sample: () => object,
  flags: readonly string[],
): Promise<unknown> {
  const { file } = options;
  if ((file === undefined) === !options.sample) throw new UsageError('give either --file or --sample');
  if (file === undefined) {
    await requireSandbox(options);
    return sample();
  }
  if (flags.some((flag) => options[optionKey(flag)] !== undefined)) {
    throw new UsageError(`${flags.slice(0, -1).join(', ')} and ${flags.at(-1)} go with --sample`);
  }
  return readJson(file);
}

function workClassIn({ batch }: StartOptions) {
  return { workClass: batch ? 'batch' : 'interactive' } as const;
}

export function fillPortfolioStart(command: Command): void {
  const definition = INPUTS.portfolioReview;
  const members = membersIn([definition.schema()]).filter(({ path }) => path !== '/file');
  const words: Readonly<Record<string, string>> = {
    '--end-user-code': 'for whom the reports are',
    '--permissible-purpose-code': 'the permissible purpose',
    '--profile': 'gateway profile',
    '--format': 'csv or jsonl (default: by the file’s name)',
    '--window': 'rows under way at once (default: 20)',
    '--max-bad-rows': 'send nothing where there are more (default: 100)',
    '--review-id': 'the review’s id (default: a new one)',
  };
  command.argument('<file>', 'in the end user’s folder, <profile>/<endUserCode> of the workers’ PORTFOLIO_DIR');
  for (const member of members) command.addOption(optionFor(member, words[member.flag]));
  command.option('--watch', 'show its progress until it ends, or waits for a person');
  withExamples(
    withServerOptions(command),
    'credit-journey portfolio start sample.csv --review-id R-1001 --end-user-code EU123 \\\n      --permissible-purpose-code 01 --watch',
  );
  command.action(async (file: string, options: StartOptions) => {
    const input = applyOptions(members, options, { reviewId: `R-${randomUUID()}`, file });
    const names = { ...namesByPath(members), '/file': '<file>' };
    const begin = (journeys: LedgerJourneys) => journeys.reviewPortfolio(input as unknown as PortfolioReviewInput);
    await startRun({ definition, input, names, begin }, options);
  });
}

/** Options that name the report of the ledger. Only a share with a run of its own needs them. */
const REPORT_FLAGS: Readonly<Record<string, string>> = {
  '/report/productCode': '--report-of',
  '/report/customerTraceNumber': '--trace',
};

function membersOfShare(): Member[] {
  return membersIn([INPUTS.shareReport.schema()]).flatMap((member) => {
    const flag = member.path.startsWith('/report/') ? REPORT_FLAGS[member.path] : member.flag;
    return flag === undefined ? [] : [{ ...member, flag }];
  });
}

/** Shares a report through its journey. */
const SHARE: OperationCommand = {
  argument: ['[id]', 'a journeyId, or pull:<pullId>; without one --file has the report'],
  operations: {
    journey: [{ routes: async () => journeyRoutes, operationId: 'requestShare', message: 'requestShare' }],
  },
  words: {
    '--share-id': 'the share’s own id',
    '--end-user-code': 'the secondary user, by code',
    '--end-user': 'the secondary user, by name',
    '--permissible-purpose-code': 'the purpose (default: the running journey’s for SECONDUSE)',
    '--report-of': 'whose report (default: of the running journey’s last stage with a record)',
    '--trace': 'by itself: which of several reports of that product',
    '--profile': 'by itself: the gateway profile',
    '--await-consent-for': 'how long to wait for consent, such as P30D',
    '--consent-valid-for': 'how old a grant may be when it is used',
    '--replaces': 'of a running journey: the share that this one replaces, which is withdrawn',
    '--by': 'with --replaces: who decides it',
    '--reason': 'with --replaces: why',
  },
  examples: [
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey share J-1001 --share-id S-2 --end-user-code EU789',
    'credit-journey pull --sample --pull-id P-1002 --watch',
    [
      'credit-journey share pull:P-1002 --report-of CR --share-id S-1002 \\',
      '      --end-user-code EU789 --permissible-purpose-code 02',
    ].join('\n'),
  ],
};

/** Through its journey while that runs, and by a run of its own at any other time. */
export async function fillShare(command: Command): Promise<void> {
  const { members: ofJourney, act } = await fillOperation(command, SHARE);
  const own = membersOfShare();
  const all = [...ofJourney, ...own];
  const flags = new Set(ofJourney.map(({ flag }) => flag));
  for (const member of own) {
    if (!flags.has(member.flag)) command.addOption(optionFor(member, SHARE.words[member.flag] ?? ''));
  }
  command
    .option('--ended', 'the journey has ended: its report is shared by itself, from the ledger')
    .option('--watch', 'by itself: show its progress until it ends or needs a person');
  command.action(async (id: string | undefined, options: StartOptions) => {
    if (id !== undefined) requireRunKey(id);
    if (id === undefined || parseRunKey(id).kind !== 'journey' || options.ended) {
      requireOwnOptions(all, own, options, 'of a share by itself: it goes with a running journey');
      return shareByItself(id, own, options);
    }
    requireOwnOptions(all, ofJourney, options, 'of a running journey: it goes with --ended, or with a pull’s report');
    if (options.watch) throw new UsageError('--watch goes with --ended, or with a pull’s report');
    try {
      await act(id, options);
    } catch (error) {
      const isUnknown = error instanceof Error && error.name === 'JourneyNotFoundError';
      const words = 'if it has ended, and its history is gone: --ended shares its report from the ledger';
      if (isUnknown) createOutput(options).note(words);
      throw error;
    }
  });
}

async function shareByItself(id: string | undefined, members: readonly Member[], options: StartOptions): Promise<void> {
  if (id === undefined && options.file === undefined) {
    throw new UsageError('name a journey or a pull, or give the whole share with --file');
  }
  const input = applyOptions(members, options, { ...(await readObject(options.file)), ...toReportInput(id) });
  const names = { ...namesByPath(members), '/report/journeyId': '<id>', '/report/pullId': '<id>' };
  const begin = (journeys: LedgerJourneys) => journeys.shareReport(input as unknown as ShareReportInput);
  await startRun({ definition: INPUTS.shareReport, input, names, begin }, options);
}

function toReportInput(runKey: string | undefined): object {
  if (runKey === undefined) return {};
  const { kind, id } = parseRunKey(runKey);
  if (kind === 'share') throw new UsageError('a share is of a journey’s or a pull’s report');
  return { report: { [ID_NAMES[kind]]: id } };
}
