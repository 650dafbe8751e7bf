/** The commands for runs, by name: those that operations of the API give, and those that start runs. */
import type { Command } from 'commander';
import { isRecord } from '../../base/is-record.ts';
import type { Loose } from '../../messages/message.ts';
import type { ProvableRepeat } from '../../model/decision-content.ts';
import type { Environment } from '../../model/products.ts';
import { parseRunKey } from '../../model/run-key.ts';
import { RUN_ID } from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import type { OperationCommand, ProofForm } from './operation-command.ts';
import { ROUTE_COMMANDS } from './route-commands.ts';

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
function completeConsent(message: Loose, runKey: string): Loose {
  const { kind, id } = parseRunKey(runKey);
  const now = new Date().toISOString();
  const { decidedAt = now, evidence } = message;
  return {
    ...(kind === 'share' ? { shareId: id } : {}),
    ...message,
    ...(message.decidedAt === undefined ? { decidedAt, decidedNow: true } : {}),
    ...(isRecord(evidence) ? { evidence: { capturedAt: decidedAt, ...evidence } } : {}),
  };
}

const ofConsents = async () => (await import('../../api/routes/consents.ts')).consentRoutes;
const ofJourneys = async () => (await import('../../api/routes/journeys.ts')).journeyRoutes;
const ofPulls = async () => (await import('../../api/routes/pulls.ts')).pullRoutes;
const ofShares = async () => (await import('../../api/routes/shares.ts')).shareRoutes;
const ofReviews = async () => (await import('../../api/routes/portfolio-reviews.ts')).portfolioReviewRoutes;

const SIGNED = { '--by': 'who decides it', '--reason': 'and why' };

interface CommandName {
  /** `extend`, or `portfolio pause`. */
  name: string;
  description: string;
}

const STEERING = ['pause', 'resume', 'withdraw', 'cancel'] as const;

const STEERING_WORDS: Record<(typeof STEERING)[number], string> = {
  pause: 'send nothing more until the review is resumed',
  resume: 'send again after a pause',
  withdraw: 'end it after the attempts in flight; holds still wait for decisions',
  cancel: 'end it after the attempts in flight; its holds stay undecided in the ledger',
};

const OPERATIONS: readonly (CommandName & OperationCommand)[] = [
  {
    name: 'advance',
    description:
      'pass the gate before a stage, or pull the latest stage once more; the run keeps a message that comes early',
    argument: ['<journeyId>'],
    operations: { journey: [{ routes: ofJourneys, operationId: 'advanceJourney', message: 'advance' }] },
    words: {
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
    argument: ['<id>', 'a journeyId, or share:<shareId> of a report shared by itself'],
    operations: {
      journey: [{ routes: ofConsents, operationId: 'recordConsent', message: 'consent' }],
      share: [{ routes: ofConsents, operationId: 'recordConsent', message: 'consentToShare' }],
    },
    words: {
      '--share-id': 'the journey’s share that it is for',
      '--applicant-id': 'whose consent',
      '--consent-id': 'the consent’s own id',
      '--decided-at': 'when (default: now; a repeated consent keeps its first time)',
      '--decided-now': null,
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
    argument: ['<id>', 'a journeyId, or share:<shareId>'],
    operations: {
      journey: [{ routes: ofJourneys, operationId: 'extendJourney', message: 'extend' }],
      share: [{ routes: ofShares, operationId: 'extendShare', message: 'extendShareReport' }],
    },
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
    argument: ['<id>', RUN_ID],
    operations: {
      journey: [
        { routes: ofJourneys, operationId: 'withdrawShare', message: 'withdrawShare' },
        { routes: ofJourneys, operationId: 'withdrawJourney', message: 'withdrawJourney' },
      ],
      pull: [{ routes: ofPulls, operationId: 'withdrawPull', message: 'withdrawPull' }],
      share: [{ routes: ofShares, operationId: 'withdrawShareReport', message: 'withdrawShareReport' }],
      portfolio: [{ routes: ofReviews, operationId: 'withdrawPortfolioReview', message: 'steerReview' }],
    },
    words: { '--share-id': 'of a journey: only this share, before it is sent', ...SIGNED },
    examples: [
      'credit-journey start --sample --journey-id J-1004',
      'credit-journey withdraw J-1004 --share-id S-1 --by operations --reason "another investor was meant"',
      'credit-journey withdraw J-1004 --by operations --reason "applicant changed plans"',
    ],
  },
  ...STEERING.map((name): CommandName & OperationCommand => ({
    name: `portfolio ${name}`,
    description: STEERING_WORDS[name],
    argument: ['<reviewId>', 'the review’s id'],
    operations: {
      portfolio: [{ routes: ofReviews, operationId: `${name}PortfolioReview`, message: 'steerReview' }],
    },
    words: SIGNED,
    examples: [`credit-journey portfolio ${name} R-1001 --by operations --reason "the provider has asked for it"`],
  })),
];

/** A command whose options come from schemas: they are loaded for the command that is called alone. */
interface SchemaCommand extends CommandName {
  fill(command: Command): Promise<unknown>;
}

const starts = () => import('./runs/start-commands.ts');

const SCHEMA_COMMANDS: readonly SchemaCommand[] = [
  {
    name: 'start',
    description:
      'start a lending journey, once; if this id was started with another input, the error names the differences',
    fill: async (command) => (await starts()).fillStart(command),
  },
  {
    name: 'pull',
    description: 'pull one report of one product; the same id again finds the first pull',
    fill: async (command) => (await starts()).fillPull(command),
  },
  {
    name: 'portfolio start',
    description: 'start a review; the same id again finds the first one',
    fill: async (command) => (await starts()).fillPortfolioStart(command),
  },
  {
    name: 'share',
    description: 'share a report with a secondary user, once its applicants consent',
    fill: async (command) => (await starts()).fillShare(command),
  },
  {
    name: 'holds',
    description: 'list what needs a person, with the command that resolves it: exits with 3 if there is anything',
    fill: async (command) => (await import('./runs/holds-command.ts')).fillHolds(command),
  },
  {
    name: 'resolve',
    description: 'decide about an inquiry on hold; on a terminal the command asks for missing options',
    fill: async (command) => (await import('./runs/resolve-command.ts')).fillResolve(command),
  },
  ...OPERATIONS.map((spec) => ({
    name: spec.name,
    description: spec.description,
    fill: async (command: Command) => (await import('./operation-command.ts')).fillOperation(command, spec),
  })),
  ...ROUTE_COMMANDS.map((spec) => ({
    name: spec.name,
    description: spec.description,
    fill: async (command: Command) => (await import('./route-command.ts')).fillRoute(command, spec),
  })),
];

/** Registers each by name; those of the name that is called are filled in, and all where none is named. */
export async function registerSchemaCommands(program: Command, named: string | undefined): Promise<void> {
  for (const { name, description, fill } of SCHEMA_COMMANDS) {
    const [last = '', ...groups] = name.split(' ').reverse();
    const group = groups.reduce((parent, word) => findGroup(parent, word), program);
    const command = group.command(last).description(description);
    if (named === undefined || named === name.split(' ')[0]) await fill(command);
  }
}

const GROUPS: Readonly<Record<string, string>> = {
  seen: 'take a flag off the list of holds once an operator has looked at it',
  portfolio: 'review a portfolio file: ACCTRVW for each of its rows',
  'legal-hold': 'keep the data of a run, or of a whole review, from disposal',
};

function findGroup(parent: Command, word: string): Command {
  const known = parent.commands.find((command) => command.name() === word);
  return known ?? parent.command(word).description(GROUPS[word] ?? '');
}
