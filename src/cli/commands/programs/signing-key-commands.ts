/** `keys signing`: the key that the HTTP API signs decisions with. */
import type { Command } from 'commander';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { createOutput, wrap } from '../../output/output.ts';

interface SigningOptions extends OutputOptions {
  file?: string;
  jwks?: string;
}

type Files = { file: string; keySet: string };
type Deeds = typeof import('../../../protection/proofs/signing-key-files.ts');

const WORKERS_FIRST = 'Bring the key set to every worker and to the API (DECISION_JWKS_FILE); they read it anew.';

export function registerSigningKeyCommands(keys: Command): void {
  const signing = keys
    .command('signing')
    .description('the key that the HTTP API signs decisions with, and its rotation');
  withExamples(signing, 'credit-journey keys signing new --file api-decisions.json --jwks decision-jwks.json');
  registerDeed(signing, 'new', 'make a private key that its owner alone can read, and add its public key to the set', {
    act: async ({ makeSigningKey }, files) => ({ keyId: await makeSigningKey(files) }),
    told: ({ keyId }, { file, keySet }) => [
      `made the key ${keyId} in ${file}, and added its public key to ${keySet}`,
      `${WORKERS_FIRST} Then start the API with API_DECISION_KEY_FILE.`,
    ],
  });
  registerDeed(signing, 'rotate', 'make the key that is to follow, and add its public key to the set', {
    act: ({ prepareSigningKey }, files) => prepareSigningKey(files),
    told: ({ current, next }, { file }) => [
      `made the key ${next} in ${file}.next; the API still signs with ${current}`,
      `${WORKERS_FIRST} Then \`credit-journey keys signing activate\`.`,
    ],
  });
  registerDeed(signing, 'activate', 'put the prepared key in the place of the one that signs', {
    act: ({ activateSigningKey }, files) => activateSigningKey(files),
    told: ({ former, current }) => [
      `the next start of the API signs with ${current}`,
      `Start every copy of the API anew. A quarter of an hour after the last one: \`credit-journey keys signing retire ${former}\`.`,
    ],
  });
  const retire = signing
    .command('retire')
    .description('take a public key out of the set: what it has signed is refused from then on')
    .argument('<kid>', 'its id; not of the key that signs');
  withExamples(withFileOptions(retire), 'credit-journey keys signing retire api-0123456789ab');
  retire.action(async (keyId: string, options: SigningOptions) => {
    const files = filesOf(options);
    const { retireSigningKey } = await import('../../../protection/proofs/signing-key-files.ts');
    await retireSigningKey(files, keyId);
    const output = createOutput(options);
    output.answer({ ...files, keyId, retired: true }, () => [
      output.colors.green(`${files.keySet} has ${keyId} no more`),
      ...wrap(WORKERS_FIRST, output.width),
    ]);
  });
}

function registerDeed<Answer extends object>(
  signing: Command,
  name: 'new' | 'rotate' | 'activate',
  description: string,
  { act, told }: { act(deeds: Deeds, files: Files): Promise<Answer>; told(answer: Answer, files: Files): string[] },
): void {
  const command = withFileOptions(signing.command(name).description(description));
  withExamples(command, `credit-journey keys signing ${name} --file api-decisions.json --jwks decision-jwks.json`);
  command.action(async (options: SigningOptions) => {
    const files = filesOf(options);
    const answer = await act(await import('../../../protection/proofs/signing-key-files.ts'), files);
    const output = createOutput(options);
    output.answer({ ...files, ...answer }, () => {
      const [first = '', ...rest] = told(answer, files);
      return [output.colors.green(first), ...rest.flatMap((line) => wrap(line, output.width))];
    });
  });
}

function withFileOptions(command: Command): Command {
  return withOutputOptions(
    command
      .option('--file <path>', 'the private key (default: API_DECISION_KEY_FILE)')
      .option('--jwks <path>', 'the key set with the public keys (default: DECISION_JWKS_FILE)'),
  );
}

function filesOf({
  file = process.env.API_DECISION_KEY_FILE,
  jwks = process.env.DECISION_JWKS_FILE,
}: SigningOptions): Files {
  if (!file) throw new UsageError('--file is required, or API_DECISION_KEY_FILE');
  if (!jwks) throw new UsageError('--jwks is required, or DECISION_JWKS_FILE');
  return { file, keySet: jwks };
}
