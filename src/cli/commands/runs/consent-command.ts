import type { Command } from 'commander';
import type {
  ConsentAnswer,
  JourneyHandle,
  LateConsentAnswer,
  ShareConsentAnswer,
  ShareHandle,
} from '../../../client.ts';
import type { ConsentMessage } from '../../../messages/consent.ts';
import { ownerOf } from '../../../model/owner-id.ts';
import { requireConsentOwner, showAnswer, withJourneys } from '../../decisions/journey-action.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { given, readObject } from '../../output/json-input.ts';
import { OPTION_NAMES, refusedAsTyped } from '../../output/option-names.ts';
import type { Output } from '../../output/output.ts';
import { type ReadProof, readProof, requireProved } from '../../output/proof-input.ts';

interface ConsentOptions extends ServerOptions {
  file?: string;
  share?: string;
  applicant?: string;
  consentId?: string;
  decision?: string;
  decidedAt?: string;
  endUserCode?: string;
  endUser?: string;
  method?: string;
  textVersion?: string;
  capturedAt?: string;
  reference?: string;
  proof?: string;
  signal?: boolean;
}

export function registerConsentCommand(program: Command): void {
  const command = program
    .command('consent')
    .description('record that an applicant granted, denied or revoked consent to a share')
    .argument('<id>', 'a journeyId, or share:<shareId> of a report shared by itself')
    .option('--share <shareId>', 'the journey’s share that it is for')
    .option('--applicant <applicantId>', 'whose consent')
    .option('--consent-id <id>', 'the consent’s own id')
    .option('--decision <decision>', 'granted, denied or revoked')
    .option('--end-user-code <code>', 'the secondary user, by code')
    .option('--end-user <name>', 'the secondary user, by name')
    .option('--decided-at <instant>', 'when (default: now; typed again, a consent keeps its first time)')
    .option('--method <method>', 'evidence of a grant: how it was given')
    .option('--text-version <version>', 'evidence: which text was shown')
    .option('--captured-at <instant>', 'evidence: when it was captured (default: when decided)')
    .option('--reference <reference>', 'evidence: where it is kept, nothing personal')
    .option('--file <path>', 'JSON of the message in place of options; - is standard input')
    .option('--proof <path>', 'a file with the compact JWS that proves it; what it holds is the message')
    .option('--signal', 'do not wait for an answer');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --auto --journey-id J-1003',
    [
      'credit-journey consent J-1003 --share S-1 --applicant 1A --consent-id C-1 \\',
      '      --decision granted --end-user-code EU456 \\',
      '      --method web --text-version v1 --reference doc-1',
    ].join('\n'),
  );
  command.action(async (id: string, options: ConsentOptions) => {
    requireConsentOwner(id);
    const message = await messageOf(id, options);
    await checkMessage('consent', { ...message, journeyId: id }, { ...options });
    await withJourneys(options, (journeys, output) => {
      const owner = ownerOf(id);
      const told = owner.kind === 'share' ? ofShare(journeys.getShare(owner.id)) : journeys.get(id);
      const sent = options.signal ? signal(told, message, output) : record(told, message, output);
      return sent.catch((error: unknown) => {
        throw refusedAsTyped(error, OPTION_NAMES.consent, { ...options });
      });
    });
  });
}

/** A run that receives consents: `lendingJourney` or `shareReport`. */
interface Told {
  consent(message: ConsentMessage): ReturnType<JourneyHandle['consent']>;
  recordConsent(message: ConsentMessage): Promise<ConsentAnswer | ShareConsentAnswer>;
}

/** A share by itself says by itself which share it is. */
function ofShare(share: ShareHandle): Told {
  return {
    consent: ({ journeyId: _, shareId: __, ...message }) => share.consent(message),
    recordConsent: ({ journeyId: _, shareId: __, ...message }) => share.recordConsent(message),
  };
}

async function messageOf(journeyId: string, options: ConsentOptions): Promise<ConsentMessage> {
  if (options.file === '-' && options.proof === '-') throw new UsageError('only one of the two can be standard input');
  const proof = await proofFor(journeyId, options.proof);
  const fromFile = { ...proof?.content, ...(await readObject(options.file)) };
  const now = new Date().toISOString();
  const secondaryUser = given({ endUserCode: options.endUserCode, endUser: options.endUser });
  const isNow = options.decidedAt === undefined && fromFile.decidedAt === undefined;
  const decidedAt = options.decidedAt ?? (isNow ? now : undefined);
  const { method, textVersion, reference } = options;
  const evidence = given({ method, textVersion, reference, capturedAt: options.capturedAt });
  const message = {
    ...fromFile,
    ...given({
      shareId: options.share ?? ownShareOf(journeyId),
      applicantId: options.applicant,
      consentId: options.consentId,
      decision: options.decision,
      decidedAt,
      ...(isNow ? { decidedNow: true } : {}),
    }),
    ...(fromFile.secondaryUser !== undefined && isEmpty(secondaryUser) ? {} : { secondaryUser }),
    ...(isEmpty(evidence) ? {} : { evidence: { capturedAt: options.decidedAt ?? now, ...evidence } }),
  };
  if (proof) requireProved(proof.content, message);
  return { ...message, ...(proof ? { proof: proof.text } : {}) } as unknown as ConsentMessage;
}

function ownShareOf(id: string): string | undefined {
  const owner = ownerOf(id);
  return owner.kind === 'share' ? owner.id : undefined;
}

/** Reads the proof, whose content is the message. */
async function proofFor(journeyId: string, file: string | undefined): Promise<ReadProof | undefined> {
  if (file === undefined) return undefined;
  const proof = await readProof(file, 'consent');
  if (proof.content.journeyId !== journeyId) throw new UsageError('the proof is for another journey');
  return proof;
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

const UNMATCHED_WORDS = {
  journey: 'kept: this ledger does not know that run. One that is started under this id finds it; else check the id',
  share: 'kept: this ledger knows no such share of it. Check the shareId',
  applicant: 'kept: this ledger knows no such applicant of it. Check the applicantId',
} as const;

async function signal(journey: Told, message: ConsentMessage, output: Output): Promise<void> {
  const answer = await journey.consent(message);
  if (answer.late) showLate(answer, output);
  else output.answer(answer, () => ['sent; what is refused shows in the status']);
}

async function record(journey: Told, message: ConsentMessage, output: Output): Promise<void> {
  const answer = await journey.recordConsent(message);
  if (answer.late) showLate(answer, output);
  else showAnswer(answer, output);
}

/** There is no open run: accepted, kept for one that the ledger does not know, or not recorded yet. */
function showLate(answer: LateConsentAnswer, output: Output): void {
  if (!answer.recorded) {
    const words = 'Temporal has it, the ledger does not have it yet: run this again to ask';
    output.answer(answer, () => [output.colors.yellow(words)]);
    return;
  }
  const { duplicate, postedSharesFlagged, unmatched } = answer;
  output.answer(answer, () => [
    duplicate
      ? 'there is no open run: recorded before, nothing has changed'
      : 'there is no open run: recorded in the ledger, nothing is posted',
    ...(unmatched ? [output.colors.yellow(UNMATCHED_WORDS[unmatched])] : []),
    ...(postedSharesFlagged > 0 ? [`posted shares flagged for a person: ${postedSharesFlagged}`] : []),
  ]);
}
