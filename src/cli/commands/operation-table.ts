/** The commands that are printed from the API's table of operations (operation-command.ts). */
import type { Command } from 'commander';
import type { Route } from '../../api/route.ts';
import { isRecord } from '../../base/is-record.ts';
import type { MESSAGES } from '../../messages/all-messages.ts';
import type { Loose } from '../../messages/message.ts';
import type { ProvableRepeat } from '../../model/decision-content.ts';
import { ownerOf, type RunKind } from '../../model/owner-id.ts';
import type { Environment } from '../../model/products.ts';
import { RUN_ID } from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import type { Output } from '../output/output.ts';

/** An operation of the API. */
export interface RouteName {
  /** Loads its file, for the command that is called alone. */
  routes: () => Promise<readonly Route[]>;
  operationId: string;
  /** The message that it sends. */
  message: keyof typeof MESSAGES;
}

export interface OperationCommand {
  /** `extend`, or `portfolio pause`. */
  name: string;
  description: string;
  /** Names the run: `<id>` of any kind, or the id of the one kind that there is. */
  argument: readonly [name: string, words?: string];
  /** By the kind of the run. Of several the first is meant whose path parameters are all given. */
  operations: Readonly<Partial<Record<RunKind, readonly RouteName[]>>>;
  /** What options are for, by their names, where the schema says nothing. `null`: the member has no option. */
  words: Readonly<Record<string, string | null>>;
  examples: readonly string[];
  /** Adds what follows from what was typed. */
  complete?(message: Loose, ownerId: string): Loose;
  /** Of a message that `--proof` may prove. */
  proof?: ProofForm;
  /** The answer for people. Default: accepted, now or before. */
  lines?(answer: object, output: Output): string[];
}

interface ProofForm {
  /** The member of the payload that holds what is proved. */
  member: 'consent' | 'decision';
  /** What of it belongs into the message. */
  readFields(content: Loose, ownerId: string): Loose;
  /** The part of the message that must be as the proof has it. */
  readProved(message: Loose, content: Loose): Promise<object>;
}

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
  readFields(content, ownerId) {
    if (content.journeyId !== ownerId) throw new UsageError('the proof is for another journey');
    return content;
  },
  readProved: async (message) => message,
};

/** A share by itself says which share it is; a decision without a time is of now, and its evidence of the same time. */
function completeConsent(message: Loose, ownerId: string): Loose {
  const { kind, id } = ownerOf(ownerId);
  const now = new Date().toISOString();
  const { decidedAt = now, evidence } = message;
  return {
    ...(kind === 'share' ? { shareId: id } : {}),
    ...message,
    ...(message.decidedAt === undefined ? { decidedAt, decidedNow: true } : {}),
    ...(isRecord(evidence) ? { evidence: { capturedAt: decidedAt, ...evidence } } : {}),
  };
}

const UNMATCHED_WORDS = {
  journey: 'kept: this ledger does not know that run. One that is started under this id finds it; else check the id',
  share: 'kept: this ledger knows no such share of it. Check the shareId',
  applicant: 'kept: this ledger knows no such applicant of it. Check the applicantId',
} as const;

interface ConsentAnswer {
  duplicate: boolean;
  recorded: boolean;
  unmatched?: keyof typeof UNMATCHED_WORDS;
  postedSharesFlagged?: number;
}

function consentLines(answer: object, { colors }: Output): string[] {
  const { duplicate, recorded, unmatched, postedSharesFlagged: flagged = 0 } = answer as ConsentAnswer;
  if (!recorded) return [colors.yellow('Temporal has it, the ledger does not have it yet: run this again to ask')];
  return [
    colors.green(duplicate ? 'recorded before: nothing has changed' : 'recorded'),
    ...(unmatched ? [colors.yellow(UNMATCHED_WORDS[unmatched])] : []),
    ...(flagged > 0 ? [`posted shares flagged for a person: ${flagged}`] : []),
  ];
}

const ofConsents = async () => (await import('../../api/routes/consents.ts')).consentRoutes;
const ofJourneys = async () => (await import('../../api/routes/journey-messages.ts')).journeyMessageRoutes;
const ofPulls = async () => (await import('../../api/routes/pulls.ts')).pullRoutes;
const ofShares = async () => (await import('../../api/routes/shares.ts')).shareRoutes;
const ofReviews = async () => (await import('../../api/routes/portfolio-reviews.ts')).portfolioReviewRoutes;

const SIGNED = { '--by': 'who decides it', '--reason': 'and why' };

const STEERING = ['pause', 'resume', 'withdraw', 'cancel'] as const;

const STEERING_WORDS: Record<(typeof STEERING)[number], string> = {
  pause: 'send nothing more until resume',
  resume: 'go on after pause',
  withdraw: 'end it after the attempts in flight; holds still wait for decisions',
  cancel: 'end it after the attempts in flight; what is on hold stays undecided in the ledger',
};

export const OPERATION_COMMANDS: readonly OperationCommand[] = [
  {
    name: 'advance',
    description: 'pass the gate before a stage, or pull the latest stage once more; one that comes early is kept',
    argument: ['<journeyId>'],
    operations: { journey: [{ routes: ofJourneys, operationId: 'advanceJourney', message: 'advance' }] },
    words: {
      '--to': 'PREAPP or PRECLOSE',
      '--accept-age': 'with --to: although the latest report is older than maxReportAge',
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
      '--decided-at': 'when (default: now; typed again, a consent keeps its first time)',
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
    lines: consentLines,
  },
  {
    name: 'extend',
    description: 'make a wait longer: at a gate, or of a share for consent',
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
  ...STEERING.map(
    (name): OperationCommand => ({
      name: `portfolio ${name}`,
      description: STEERING_WORDS[name],
      argument: ['<reviewId>', 'the review’s id'],
      operations: {
        portfolio: [{ routes: ofReviews, operationId: `${name}PortfolioReview`, message: 'steerReview' }],
      },
      words: SIGNED,
      examples: [`credit-journey portfolio ${name} R-1001 --by operations --reason "the provider has asked for it"`],
    }),
  ),
];

/** Registers each by name; the one that is called is filled in, and each of them where none is named. */
export async function registerOperations(program: Command, named: string | undefined): Promise<void> {
  for (const spec of OPERATION_COMMANDS) {
    const words = spec.name.split(' ');
    const name = words.pop() ?? '';
    const group = words.reduce((parent, word) => findGroup(parent, word), program);
    const command = group.command(name).description(spec.description);
    if (named !== undefined && named !== spec.name.split(' ')[0]) continue;
    const { fillCommand } = await import('./operation-command.ts');
    await fillCommand(command, spec);
  }
}

function findGroup(parent: Command, word: string): Command {
  return parent.commands.find((command) => command.name() === word) ?? parent.command(word);
}
