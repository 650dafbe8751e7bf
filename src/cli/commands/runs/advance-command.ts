import type { Command } from 'commander';
import type { AdvanceMessage } from '../../../messages/advance.ts';
import { repeatContent } from '../../../model/decision-content.ts';
import type { Environment } from '../../../model/products.ts';
import { showAnswer, withJourney } from '../../decisions/journey-action.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { given, readObject } from '../../output/json-input.ts';
import { OPTION_NAMES, refusedAsTyped } from '../../output/option-names.ts';
import { type ReadProof, readProof, requireProved } from '../../output/proof-input.ts';

interface AdvanceOptions extends ServerOptions {
  to?: string;
  repeat?: string;
  occurrence?: string;
  acceptAge?: true;
  skip?: string;
  by?: string;
  reason?: string;
  file?: string;
  proof?: string;
}

export function registerAdvanceCommand(program: Command): void {
  const command = program
    .command('advance')
    .description('pass the gate before a stage, or pull the latest stage once more; one that comes early is kept')
    .argument('<journeyId>')
    .option('--to <stage>', 'PREAPP or PRECLOSE')
    .option('--accept-age', 'with --to: although the latest report is older than maxReportAge')
    .option('--skip <stage>', 'with --to: a stage before it that is never to be pulled')
    .option('--repeat <stage>', 'one further inquiry for the stage that was answered last')
    .option('--occurrence <number>', 'with --repeat: which pull of the stage it is to be, 2 for the first repeat')
    .option('--by <who>', 'with --repeat, --accept-age or --skip: who decides it')
    .option('--reason <text>', 'and why')
    .option('--proof <path>', 'of a repeat: a file with the compact JWS that proves it')
    .option('--file <path>', 'JSON with the message’s other fields (applicants); - is standard input');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey advance J-1001 --to PREAPP',
    'credit-journey advance J-1001 --repeat PREAPP --occurrence 2 --by underwriting --reason "the offer was renewed"',
  );
  command.action(async (journeyId: string, options: AdvanceOptions) => {
    const { to, repeat, occurrence, acceptAge, skip, by, reason, file } = options;
    if (file === '-' && options.proof === '-') throw new UsageError('only one of the two can be standard input');
    const proof = options.proof === undefined ? undefined : await readProof(options.proof, 'decision');
    const fields = given({ to, repeat, occurrence: occurrenceOf(occurrence), acceptAge, skip, by, reason });
    const said = { ...provedRepeat(proof), ...(await readObject(file)), ...fields } as unknown as AdvanceMessage;
    const message = proof ? { ...said, proof: proof.text } : said;
    if (proof) requireProved(proof.content, contentOf(proof, { ...said, journeyId }));
    await checkMessage('advance', { ...message, journeyId }, { ...options });
    await withJourney(journeyId, options, async (journey, output) => {
      const answer = await journey.advance(message).catch((error: unknown) => {
        throw refusedAsTyped(error, OPTION_NAMES.advance, { ...options });
      });
      showAnswer(answer, output);
    });
  });
}

/** The part of a proof that belongs into the message. */
function provedRepeat(proof: ReadProof | undefined): object {
  const { environment: _, journeyId: __, contentDigest: ___, ...fields } = proof?.content ?? {};
  return fields;
}

function contentOf({ content }: ReadProof, message: AdvanceMessage): object {
  if (!('repeat' in message)) throw new UsageError('--proof belongs to a repeat');
  return repeatContent(content.environment as Environment, message);
}

function occurrenceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new UsageError('--occurrence must be a whole number, 2 or more');
  return Number(text);
}
