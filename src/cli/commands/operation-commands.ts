/** The commands that operations of the API give, with what only the command line adds. operation-command.ts prints them. */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../base/is-record.ts';
import type { Loose } from '../../messages/message.ts';
import { ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import type { Paused } from '../../operations/orders.ts';
import { type AnyStatus, needsPerson } from '../../words/runs.ts';
import { EXIT, UsageError } from '../output/errors.ts';
import { formatStatus } from '../output/status-lines.ts';
import type { Needs } from './call-operation.ts';
import type { Answer } from './command.ts';
import type { OperationCommand } from './operation-command.ts';

/** A share by itself says which share it is; a decision without a time is of now, and its evidence of the same time. */
function completeConsent(message: Loose, runKey: string | undefined): Loose {
  const { kind, id } = parseRunKey(runKey ?? '');
  const now = new Date().toISOString();
  const { decidedAt = now, evidence } = message;
  return {
    ...message,
    journeyId: runKey,
    ...(kind === 'share' ? { shareId: id } : {}),
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

/** Warns of a misspelt profile, whose pause would have no effect. The file of another worker may have the name. */
async function warnOfProfile(paused: Paused): Promise<Answer> {
  const { inspectConfig } = await import('../../config/config.ts');
  const { profile } = paused.pause;
  const isKnown = profile === undefined || inspectConfig(process.env).config.profiles.has(profile);
  return isKnown ? {} : { answer: { ...paused, warning: `no gateway profile configured here is called ${profile}` } };
}

/** Prints JSON on a terminal too, since the reader of a report wants all of it. */
function showJson(answer: object): Answer {
  return { lines: () => JSON.stringify(answer, null, 2).split('\n') };
}

/** @param example the words between the command’s name and the operator’s */
function toOrder(name: string, operation: string, needs: Needs, example: string): OperationCommand {
  const examples = [`credit-journey ${name} ${example} --by <name> --reason "<why>"`];
  return { name, operations: [operation], needs, examples };
}

const LOSE_ANSWER = [
  '--lose-answer',
  'with --sample: the gateway posts an inquiry and its first answer is lost',
] as const;

export const OPERATION_COMMANDS: readonly OperationCommand[] = [
  {
    name: 'start',
    description:
      'start a lending journey, once; if this id was started with another input, the error names the differences',
    operations: ['startJourney'],
    members: ['/journeyId', '/workClass'],
    sample: 'journey',
    options: [['--auto', 'with --sample: pass the gates without waiting for advance'], LOSE_ANSWER],
    canWatch: true,
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey start --sample --auto --watch'],
  },
  {
    name: 'pull',
    description: 'pull one report of one product; the same id again finds the first pull',
    operations: ['startPull'],
    members: ['/pullId', '/productCode', '/workClass'],
    defaults: { '--product-code': 'CR, with --sample' },
    sample: 'pull',
    options: [LOSE_ANSWER],
    canWatch: true,
    examples: [
      'credit-journey pull --sample --product-code REFUPD --pull-id P-1001 --watch',
      'credit-journey report pull:P-1001 REFUPD',
    ],
  },
  {
    name: 'portfolio start',
    operations: ['startPortfolioReview'],
    arguments: [['<file>', 'in the end user’s folder, <profile>/<endUserCode> of the workers’ PORTFOLIO_DIR']],
    defaults: { '--review-id': 'a new one' },
    canWatch: true,
    complete: (content) => ({ reviewId: `R-${randomUUID()}`, ...content }),
    examples: [
      'credit-journey portfolio start sample.csv --review-id R-1001 --end-user-code EU123 \\\n      --permissible-purpose-code 01 --watch',
    ],
  },
  {
    name: 'share',
    description: 'share a report with a secondary user, once its applicants consent',
    operations: ['requestShare', 'startShare'],
    // Through its journey while that runs, and by a run of its own at any other time.
    isMeant: (operationId, { ended }) => operationId === 'startShare' || !ended,
    arguments: [['[id]', 'a journeyId, or pull:<pullId>; without one --file has the report']],
    without: ['/report/journeyId', '/report/pullId', '/report/endUserCode', '/report/reference'],
    options: [['--ended', 'the journey has ended: its report is shared by itself, from the ledger']],
    canWatch: true,
    complete: completeShare,
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      'credit-journey share J-1001 --share-id S-2 --end-user-code EU789',
      'credit-journey pull --sample --pull-id P-1002 --watch',
      'credit-journey share pull:P-1002 --product-code CR --share-id S-1002 \\\n      --end-user-code EU789 --permissible-purpose-code 02',
    ],
  },
  {
    name: 'advance',
    operations: ['advanceJourney'],
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      'credit-journey advance J-1001 --to PREAPP',
      'credit-journey advance J-1001 --repeat PREAPP --occurrence 2 --by underwriting --reason "the offer was renewed"',
    ],
  },
  {
    name: 'consent',
    description: 'record that an applicant granted, denied or revoked consent to a share',
    operations: ['recordConsent'],
    arguments: [['<id>', 'a journeyId, or share:<shareId> of a report shared by itself']],
    without: ['/decidedNow', '/journeyId'],
    defaults: { '--decided-at': 'now; a repeated consent keeps its first time', '--captured-at': 'when decided' },
    examples: [
      'credit-journey start --sample --auto --journey-id J-1003',
      'credit-journey consent J-1003 --share-id S-1 --applicant-id 1A --consent-id C-1 \\\n      --decision granted --end-user-code EU456 \\\n      --method web --text-version v1 --reference doc-1',
    ],
    complete: completeConsent,
  },
  {
    name: 'extend',
    description: 'extend a wait: at a gate, or of a share for consent',
    operations: ['extendJourney', 'extendShare'],
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      'credit-journey extend J-1001 --gate PREAPP --until 2030-01-31T00:00:00Z \\\n      --by underwriting --reason "the appraisal is late"',
    ],
  },
  {
    name: 'withdraw',
    description: 'end a journey, a pull, a share or a review after any attempt in flight; or take back one share',
    operations: ['withdrawShare', 'withdrawJourney', 'withdrawPull', 'withdrawShareReport', 'withdrawPortfolioReview'],
    examples: [
      'credit-journey start --sample --journey-id J-1004',
      'credit-journey withdraw J-1004 --share-id S-1 --by operations --reason "another investor was meant"',
      'credit-journey withdraw J-1004 --by operations --reason "applicant changed plans"',
    ],
  },
  ...['pause', 'resume', 'withdraw', 'cancel'].map(
    (name): OperationCommand => ({
      name: `portfolio ${name}`,
      operations: [`${name}PortfolioReview`],
      examples: [`credit-journey portfolio ${name} R-1001 --by operations --reason "the provider has asked for it"`],
    }),
  ),
  {
    name: 'status',
    description: 'show the status of a journey, a pull, a share or a review; exits with 3 if it needs a person',
    operations: ['getJourney', 'getPull', 'getShare', 'getPortfolioReview'],
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey status J-1001'],
    present: (status: AnyStatus, output) => ({
      lines: () => formatStatus(status, output),
      exitCode: needsPerson(status) ? EXIT.needsPerson : EXIT.done,
    }),
  },
  {
    name: 'report',
    operations: ['getReport'],
    examples: [
      'credit-journey start --sample --journey-id J-1001',
      'credit-journey report J-1001 PREQUAL',
      'credit-journey report J-1001 PREQUAL --reveal --purpose "adverse action letter" --end-user EU123',
    ],
    needs: 'ledger',
    present: showJson,
  },
  {
    name: 'refusal',
    operations: ['getRefusal'],
    examples: ['credit-journey refusal <customerTraceNumber> 1 --reveal'],
    needs: 'ledger',
    present: showJson,
  },
  {
    name: 'references',
    operations: ['getReferences'],
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey references J-1001 --reveal'],
    needs: 'ledger',
  },
  {
    name: 'changes',
    operations: ['getJourneyChanges'],
    examples: ['credit-journey start --sample --auto --journey-id J-1001', 'credit-journey changes J-1001 --reveal'],
    needs: 'ledger',
  },
  { name: 'list', operations: ['listRuns'], examples: ['credit-journey list --open'] },
  { name: 'pauses', operations: ['listPauses'], examples: ['credit-journey pauses'], needs: 'ledger' },
  {
    // It must stop everything where all else is broken, too.
    name: 'pause',
    operations: ['beginPause'],
    examples: ['credit-journey pause --by ops-7 --reason "ticket 4711: wrong purpose codes"'],
    needs: 'ledger',
    present: warnOfProfile,
  },
  {
    name: 'resume',
    operations: ['endPause'],
    examples: ['credit-journey resume --by ops-7 --reason "ticket 4711: corrected"'],
    needs: 'both',
    present: ({ runs }: { runs: { unreached: number } }) => ({
      exitCode: runs.unreached > 0 ? EXIT.failed : EXIT.done,
    }),
  },
  toOrder('seen inquiry', 'markSeen', 'both', '<customerTraceNumber>'),
  toOrder('seen run', 'markRunSeen', 'both', 'portfolio:R-1001 --flag ssnMismatch'),
  toOrder('seen consents', 'markConsentsSeen', 'both', '--run-key J-1001'),
  toOrder('legal-hold set', 'setLegalHold', 'ledger', 'J-1 --matter 2026-17'),
  toOrder('legal-hold release', 'releaseLegalHold', 'ledger', 'J-1 --matter 2026-17'),
  {
    name: 'legal-hold list',
    operations: ['listLegalHolds'],
    examples: ['credit-journey legal-hold list', 'credit-journey legal-hold list --run-key J-1'],
    needs: 'ledger',
  },
];
