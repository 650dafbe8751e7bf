/** The commands that routes give, by name, with the words that only the command line has. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Paused } from '../../api/routes/pauses.ts';
import { isRecord } from '../../base/is-record.ts';
import type { Loose } from '../../messages/message.ts';
import type { ProvableRepeat } from '../../model/decision-content.ts';
import { type Environment, PULL_PRODUCTS } from '../../model/products.ts';
import { ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import { type AnyStatus, needsPerson } from '../../words/runs.ts';
import { RUN_ID } from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { readObject } from '../output/json-input.ts';
import { optionKey } from '../output/option-names.ts';
import { documentLines, type Output, wrap } from '../output/output.ts';
import { requireSandbox } from '../output/require-sandbox.ts';
import { statusLines } from '../output/status-lines.ts';
import type { Options, ProofForm, RouteCommand } from './route-command.ts';

const REPEAT_PROOF: ProofForm = {
  member: 'decision',
  readFields: ({ environment: _, journeyId: __, contentDigest: ___, ...fields }) => fields,
  async readProved(message, { environment }) {
    if (!('repeat' in message)) throw new UsageError('--proof belongs to a repeat');
    const { repeatContent } = await import('../../model/decision-content.ts');
    return repeatContent(environment as Environment, message as unknown as ProvableRepeat);
  },
};

/** The proof holds the whole message. */
const CONSENT_PROOF: ProofForm = {
  member: 'consent',
  readFields(content, runKey) {
    if (content.journeyId !== runKey) throw new UsageError('the proof is for another journey');
    return content;
  },
  readProved: async (message) => message,
};

/** A share by itself says which share it is; a decision without a time is of now, and its evidence of the same time. */
function completeConsent(message: Loose, runKey: string | undefined): Loose {
  const { kind, id } = parseRunKey(runKey ?? '');
  const now = new Date().toISOString();
  const { decidedAt = now, evidence } = message;
  return {
    journeyId: runKey,
    ...(kind === 'share' ? { shareId: id } : {}),
    ...message,
    ...(message.decidedAt === undefined ? { decidedAt, decidedNow: true } : {}),
    ...(isRecord(evidence) ? { evidence: { capturedAt: decidedAt, ...evidence } } : {}),
  };
}

/** A report that is shared by itself is named by its run. */
function completeShare(content: Loose, runKey: string | undefined, operationId: string): Loose {
  if (operationId === 'requestShare' || runKey === undefined) return content;
  const { kind, id } = parseRunKey(runKey);
  if (kind === 'share') throw new UsageError('a share is of a journey’s or a pull’s report');
  return { ...content, report: { ...(content.report as object), [ID_NAMES[kind]]: id } };
}

type Samples = typeof import('../demo/sample-runs.ts');

/** @param flags of the options that go with `--sample` */
async function readInput(
  options: Options,
  flags: readonly string[],
  makeSample: (samples: Samples) => object,
): Promise<Loose> {
  const { file, batch } = options;
  if ((file === undefined) === !options.sample) throw new UsageError('give either --file or --sample');
  if (file !== undefined && flags.some((flag) => options[optionKey(flag)] !== undefined)) {
    throw new UsageError(`${flags.slice(0, -1).join(', ')} and ${flags.at(-1)} go with --sample`);
  }
  if (file === undefined) await requireSandbox(options);
  const input = file === undefined ? makeSample(await import('../demo/sample-runs.ts')) : await readObject(file);
  return { ...input, ...(batch ? { workClass: 'batch' } : {}) };
}

function readJourney(options: Options): Promise<Loose> {
  const { journeyId = `J-${randomUUID()}`, auto = false, loseAnswer = false } = options as SampleOptions;
  const flags = ['--journey-id', '--auto', '--lose-answer'];
  return readInput(options, flags, ({ sampleJourney }) => sampleJourney({ journeyId, auto, loseAnswer }));
}

function readPull(options: Options): Promise<Loose> {
  const { pullId = `P-${randomUUID()}`, product = 'CR', loseAnswer = false } = options as SampleOptions;
  return readInput(options, ['--product', '--pull-id', '--lose-answer'], ({ samplePull }) => {
    const productCode = PULL_PRODUCTS.find((candidate) => candidate === product);
    if (!productCode) throw new UsageError(`--product must be one of ${PULL_PRODUCTS.join(', ')}`);
    return samplePull({ pullId, productCode, loseAnswer });
  });
}

interface SampleOptions {
  journeyId?: string;
  pullId?: string;
  product?: string;
  auto?: boolean;
  loseAnswer?: boolean;
}

/** A slip of the pen would pause nothing. The ledger may be of another environment, which knows the name. */
async function pausedLines(answer: Paused, { width, colors }: Output): Promise<string[]> {
  const { profile } = answer.pause;
  const { inspectConfig } = await import('../../config/config.ts');
  const isUnknown = profile !== undefined && !inspectConfig(process.env).config.profiles.has(profile);
  const warning = `no gateway profile that is configured here is called ${profile}: check the name`;
  return [...documentLines(answer, width), ...(isUnknown ? wrap(warning, width).map(colors.yellow) : [])];
}

const SIGNED = { '--by': 'who decides it', '--reason': 'and why' };
const WATCH = ['--watch', 'show its progress until it ends or needs a person'] as const;

const STEERING = {
  pause: 'send nothing more until the review is resumed',
  resume: 'send again after a pause',
  withdraw: 'end it after the attempts in flight; holds still wait for decisions',
  cancel: 'end it after the attempts in flight; its holds stay undecided in the ledger',
};

const ROUTE_COMMANDS: readonly RouteCommand[] = [
  {
    name: 'start',
    description:
      'start a lending journey, once; if this id was started with another input, the error names the differences',
    operations: [['startJourney', 'lendingJourney']],
    readContent: readJourney,
    options: [
      ['--file <path>', 'JSON input of lendingJourney; - is standard input'],
      ['--sample', 'a made-up joint application, for the sandbox alone'],
      ['--journey-id <id>', 'with --sample: the journey’s id (default: a new one)'],
      ['--auto', 'with --sample: pass the gates without waiting for advance'],
      ['--lose-answer', 'with --sample: the gateway posts each inquiry and its first answer is lost'],
      ['--batch', 'batch work: other journeys go first when the gateway’s limit is reached'],
      WATCH,
    ],
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey start --sample --auto --watch'],
  },
  {
    name: 'pull',
    description: 'pull one report of one product; the same id again finds the first pull',
    operations: [['startPull', 'pull']],
    readContent: readPull,
    options: [
      ['--file <path>', 'JSON input of creditReport or failsafeCheck; - is standard input'],
      ['--sample', 'a made-up applicant, for the sandbox alone'],
      ['--product <productCode>', `with --sample: ${PULL_PRODUCTS.join(', ')} (default: CR)`],
      ['--pull-id <id>', 'with --sample: the pull’s id (default: a new one)'],
      ['--lose-answer', 'with --sample: the gateway posts the inquiry and its first answer is lost'],
      ['--batch', 'batch work: other pulls go first when the gateway’s limit is reached'],
      WATCH,
    ],
    examples: [
      'credit-journey pull --sample --product REFUPD --pull-id P-1001 --watch',
      'credit-journey report pull:P-1001 REFUPD',
    ],
  },
  {
    name: 'portfolio start',
    description: 'start a review; the same id again finds the first one',
    operations: [['startPortfolioReview', 'portfolioReview']],
    arguments: [['<file>', 'in the end user’s folder, <profile>/<endUserCode> of the workers’ PORTFOLIO_DIR']],
    words: {
      '--end-user-code': 'for whom the reports are',
      '--permissible-purpose-code': 'the permissible purpose',
      '--profile': 'gateway profile',
      '--format': 'csv or jsonl (default: by the file’s name)',
      '--window': 'rows under way at once (default: 20)',
      '--max-bad-rows': 'send nothing where there are more (default: 100)',
      '--review-id': 'the review’s id (default: a new one)',
    },
    options: [WATCH],
    complete: (content) => ({ reviewId: `R-${randomUUID()}`, ...content }),
    examples: [
      'credit-journey portfolio start sample.csv --review-id R-1001 --end-user-code EU123 \\\n      --permissible-purpose-code 01 --watch',
    ],
  },
  {
    name: 'share',
    description: 'share a report with a secondary user, once its applicants consent',
    operations: [
      ['requestShare', 'requestShare'],
      ['startShare', 'shareReport'],
    ],
    // Through its journey while that runs, and by a run of its own at any other time.
    isMeant: (operationId, { ended }) => operationId === 'startShare' || !ended,
    arguments: [['[id]', 'a journeyId, or pull:<pullId>; without one --file has the report']],
    flags: { '/report/productCode': '--report-of', '/report/customerTraceNumber': '--trace' },
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
      ...{ '--journey-id': null, '--pull-id': null, '--report-end-user-code': null },
      ...{ '--report-reference-number': null, '--requested-at': null },
    },
    options: [
      ['--ended', 'the journey has ended: its report is shared by itself, from the ledger'],
      ['--watch', 'by itself: show its progress until it ends or needs a person'],
    ],
    complete: completeShare,
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      'credit-journey share J-1001 --share-id S-2 --end-user-code EU789',
      'credit-journey pull --sample --pull-id P-1002 --watch',
      'credit-journey share pull:P-1002 --report-of CR --share-id S-1002 \\\n      --end-user-code EU789 --permissible-purpose-code 02',
    ],
  },
  {
    name: 'advance',
    description:
      'pass the gate before a stage, or pull the latest stage once more; the run keeps a message that comes early',
    operations: [['advanceJourney', 'advance']],
    arguments: [['<journeyId>']],
    words: {
      '--proof': null,
      '--to': 'PREAPP or PRECLOSE',
      '--accept-age': 'with --to: even if the latest report is older than maxReportAge',
      '--skip': 'with --to: a stage before it that is never to be pulled',
      '--repeat': 'one further inquiry for the stage that was answered last',
      '--occurrence': 'with --repeat: which pull of the stage it is to be, 2 for the first repeat',
      '--by': 'with --repeat, --accept-age or --skip: who decides it',
      '--reason': 'and why',
    },
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      'credit-journey advance J-1001 --to PREAPP',
      'credit-journey advance J-1001 --repeat PREAPP --occurrence 2 --by underwriting --reason "the offer was renewed"',
    ],
    proof: REPEAT_PROOF,
  },
  {
    name: 'consent',
    description: 'record that an applicant granted, denied or revoked consent to a share',
    operations: [['recordConsent', 'consent']],
    arguments: [['<id>', 'a journeyId, or share:<shareId> of a report shared by itself']],
    words: {
      '--share-id': 'the journey’s share that it is for',
      '--applicant-id': 'whose consent',
      '--consent-id': 'the consent’s own id',
      '--decided-at': 'when (default: now; a repeated consent keeps its first time)',
      ...{ '--decided-now': null, '--journey-id': null, '--proof': null },
      '--end-user-code': 'the secondary user, by code',
      '--end-user': 'the secondary user, by name',
      '--method': 'evidence of a grant: how it was given',
      '--text-version': 'evidence: which text was shown',
      '--captured-at': 'evidence: when it was captured (default: when decided)',
      '--reference': 'evidence: where it is kept, nothing personal',
    },
    examples: [
      'credit-journey start --sample --auto --journey-id J-1003',
      [
        'credit-journey consent J-1003 --share-id S-1 --applicant-id 1A --consent-id C-1 \\',
        '      --decision granted --end-user-code EU456 \\',
        '      --method web --text-version v1 --reference doc-1',
      ].join('\n'),
    ],
    complete: completeConsent,
    proof: CONSENT_PROOF,
  },
  {
    name: 'extend',
    description: 'extend a wait: at a gate, or of a share for consent',
    operations: [
      ['extendJourney', 'extend'],
      ['extendShare', 'extendShareReport'],
    ],
    arguments: [['<id>', 'a journeyId, or share:<shareId>']],
    words: {
      '--gate': 'of a journey: the stage behind the gate that it waits at',
      '--share-id': 'of a journey: the share that waits for consent',
      '--until': 'when the wait is to end: RFC 3339, later than it would',
      ...SIGNED,
    },
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      [
        'credit-journey extend J-1001 --gate PREAPP --until 2030-01-31T00:00:00Z \\',
        '      --by underwriting --reason "the appraisal is late"',
      ].join('\n'),
    ],
  },
  {
    name: 'withdraw',
    description: 'end a journey, a pull, a share or a review after any attempt in flight; or take back one share',
    operations: [
      ['withdrawShare', 'withdrawShare'],
      ['withdrawJourney', 'withdrawJourney'],
      ['withdrawPull', 'withdrawPull'],
      ['withdrawShareReport', 'withdrawShareReport'],
      ['withdrawPortfolioReview', 'steerReview'],
    ],
    arguments: [['<id>', RUN_ID]],
    words: { '--share-id': 'of a journey: only this share, before it is sent', ...SIGNED },
    examples: [
      'credit-journey start --sample --journey-id J-1004',
      'credit-journey withdraw J-1004 --share-id S-1 --by operations --reason "another investor was meant"',
      'credit-journey withdraw J-1004 --by operations --reason "applicant changed plans"',
    ],
  },
  ...Object.entries(STEERING).map(
    ([name, description]): RouteCommand => ({
      name: `portfolio ${name}`,
      description,
      operations: [[`${name}PortfolioReview`, 'steerReview']],
      arguments: [['<reviewId>', 'the review’s id']],
      words: SIGNED,
      examples: [`credit-journey portfolio ${name} R-1001 --by operations --reason "the provider has asked for it"`],
    }),
  ),
  {
    name: 'status',
    description: 'show the status of a journey, a pull, a share or a review; exits with 3 if it needs a person',
    operations: ['getJourney', 'getPull', 'getShare', 'getPortfolioReview'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey status J-1001'],
    namesPauses: true,
    lines: statusLines,
    exitCode: (status: AnyStatus) => (needsPerson(status) ? EXIT.needsPerson : EXIT.done),
  },
  {
    name: 'report',
    description: 'print a stored report from the ledger: masked, or with --reveal (personal data)',
    operations: ['getReport'],
    arguments: [['<id>', RUN_ID], ['<productCode>']],
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      'credit-journey report J-1001 PREQUAL',
      'credit-journey report J-1001 PREQUAL --reveal --purpose "adverse action letter" --end-user EU123',
    ],
    needs: 'ledger',
    by: 'reader',
    // JSON for people too: a reader of a report wants all of it.
    lines: (answer) => JSON.stringify(answer, null, 2).split('\n'),
  },
  {
    name: 'refusal',
    description: 'print what the gateway wrote beside a refusal: masked, or with --reveal (personal data)',
    operations: ['getRefusal'],
    arguments: [['<customerTraceNumber>'], ['<attempt>']],
    examples: ['credit-journey refusal <customerTraceNumber> 1 --reveal'],
    needs: 'ledger',
    by: 'reader',
    lines: (answer) => JSON.stringify(answer, null, 2).split('\n'),
  },
  {
    name: 'references',
    description:
      'print the references to store for later shares: consumer ids masked, or with --reveal (personal data)',
    operations: ['getReferences'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey references J-1001 --reveal'],
    needs: 'ledger',
    by: 'reader',
  },
  {
    name: 'changes',
    description: 'print what changed before closing, from the ledger: masked, or with --reveal (personal data)',
    operations: ['getJourneyChanges'],
    arguments: [['<journeyId>']],
    examples: ['credit-journey start --sample --auto --journey-id J-1001', 'credit-journey changes J-1001 --reveal'],
    needs: 'ledger',
    by: 'reader',
  },
  {
    name: 'list',
    description: 'list journeys, pulls, shares and reviews: the newest open ones first, then those that ended last',
    operations: ['listRuns'],
    examples: ['credit-journey list --open'],
    namesPauses: true,
  },
  {
    name: 'pauses',
    description: 'list every pause, in force and past, the oldest first',
    operations: ['listPauses'],
    examples: ['credit-journey pauses'],
    needs: 'ledger',
  },
  {
    // It must stop everything where all else is broken, too.
    name: 'pause',
    description: 'send nothing more, on any worker, until resume',
    operations: ['beginPause'],
    examples: ['credit-journey pause --by ops-7 --reason "ticket 4711: wrong purpose codes"'],
    needs: 'ledger',
    lines: pausedLines,
  },
  {
    name: 'resume',
    description: 'end a pause, and wake the runs that wait for its end',
    operations: ['endPause'],
    examples: ['credit-journey resume --by ops-7 --reason "ticket 4711: corrected"'],
    needs: 'both',
    exitCode: ({ runs }: { runs: { unreached: number } }) => (runs.unreached > 0 ? EXIT.failed : EXIT.done),
  },
  {
    name: 'seen inquiry',
    description: 'take a flag about an inquiry off the list of holds',
    operations: ['markSeen'],
    arguments: [['<customerTraceNumber>', 'the inquiry’s trace number']],
    examples: ['credit-journey seen inquiry <customerTraceNumber> --by <name> --reason "<why>"'],
    needs: 'both',
  },
  {
    name: 'seen run',
    description: 'take a flag about a whole run off the list of holds',
    operations: ['markRunSeen'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey seen run portfolio:R-1001 --flag ssnMismatch --by <name> --reason "<why>"'],
    needs: 'both',
  },
  {
    name: 'seen consents',
    description: 'take the unmatched consents of a run off the list of holds',
    operations: ['markConsentsSeen'],
    examples: ['credit-journey seen consents --run-key J-1001 --by <name> --reason "<why>"'],
    needs: 'both',
  },
  {
    name: 'legal-hold set',
    description: 'keep the data of a run from disposal until each of its legal holds is released',
    operations: ['setLegalHold'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey legal-hold set J-1 --matter 2026-17 --by <name> --reason "<why>"'],
    needs: 'ledger',
  },
  {
    name: 'legal-hold release',
    description: 'release the legal hold of one matter',
    operations: ['releaseLegalHold'],
    arguments: [['<id>', RUN_ID]],
    examples: ['credit-journey legal-hold release J-1 --matter 2026-17 --by <name> --reason "<why>"'],
    needs: 'ledger',
  },
  {
    name: 'legal-hold list',
    description: 'list every legal hold in force, the oldest first',
    operations: ['listLegalHolds'],
    examples: ['credit-journey legal-hold list', 'credit-journey legal-hold list --run-key J-1'],
    needs: 'ledger',
  },
];

/** Registers each by name; those of the name that is called are filled in, and all where none is named. */
export async function registerRouteCommands(program: Command, named: string | undefined): Promise<void> {
  const isCalled = (name: string) => named === undefined || named === name.split(' ')[0];
  for (const spec of ROUTE_COMMANDS) {
    const [last = '', ...groups] = spec.name.split(' ').reverse();
    const group = groups.reduce((parent, word) => findGroup(parent, word), program);
    const command = group.command(last).description(spec.description);
    // Loaded for the command that is called: its options come from schemas.
    if (isCalled(spec.name)) (await import('./route-command.ts')).fillRoute(command, spec);
  }
  for (const [name, [fill, description]] of Object.entries(RUN_COMMANDS)) {
    const command = program.command(name).description(description);
    if (isCalled(name)) (await import('./run-commands.ts'))[fill](command);
  }
}

const RUN_COMMANDS = {
  watch: ['fillWatch', 'show a run’s progress until it ends (0) or needs a person (3); a JSON line per change'],
  holds: [
    'fillHolds',
    'list what needs a person, with the command that resolves it: exits with 3 if there is anything',
  ],
  resolve: ['fillResolve', 'decide about an inquiry on hold; on a terminal the command asks for missing options'],
} as const;

const GROUPS: Readonly<Record<string, string>> = {
  seen: 'take a flag off the list of holds once an operator has looked at it',
  portfolio: 'review a portfolio file: ACCTRVW for each of its rows',
  'legal-hold': 'keep the data of a run, or of a whole review, from disposal',
};

function findGroup(parent: Command, word: string): Command {
  const known = parent.commands.find((command) => command.name() === word);
  return known ?? parent.command(word).description(GROUPS[word] ?? '');
}
