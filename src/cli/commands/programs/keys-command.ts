/** `keys`: a table of what a person does with a key ring, and with the key that the HTTP API signs decisions with. */
import { type Command, Option } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { KeyAge } from '../../../protection/keys/key-ring.ts';
import type { KeyUse } from '../../../protection/keys/key-ring-file.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, type Output, table, wrap } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

const DEFAULT_FILE = '.credit-journey/keys.json';
const USES: readonly KeyUse[] = ['payload', 'ledger'];
const KMS_NAMES = 'aws-kms:<ARN, alias/name or key id>';

const RING_FILE = new Option('--file <path>', `the key ring (default: KEY_RING_FILE, else ${DEFAULT_FILE})`);
const SIGNING_FILES = [
  new Option('--file <path>', 'the private key (default: API_DECISION_KEY_FILE)'),
  new Option('--jwks <path>', 'the key set with the public keys (default: DECISION_JWKS_FILE)'),
];

interface KeyOptions extends OutputOptions {
  file?: string;
  jwks?: string;
  kms?: string;
  use?: string;
}

interface KeyCommand<Answer extends object> {
  name: string;
  description: string;
  /** The id that the command is about: its name and its description. */
  argument?: [string, string];
  options?: readonly Option[];
  example: string;
  run(options: KeyOptions, id: string): Promise<Answer>;
  /** The first line is green where the command has changed something. */
  describe(answer: Answer, output: Output): string[];
  /** Called once the answer is printed. */
  judge?(answer: Answer): void | Promise<void>;
}

function register<Answer extends object>(parent: Command, definition: KeyCommand<Answer>): void {
  const { name, description, argument, options = [], example, run, describe, judge } = definition;
  const command = parent.command(name).description(description);
  if (argument) command.argument(...argument);
  for (const option of options) command.addOption(option);
  withExamples(withOutputOptions(command), `credit-journey ${example}`);
  command.action(async () => {
    const given = command.opts<KeyOptions>();
    const answer = await run(given, command.args[0] ?? '');
    const output = createOutput(given);
    output.answer(answer, () => describe(answer, output));
    await judge?.(answer);
  });
}

export function registerKeysCommand(program: Command): void {
  const keys = program
    .command('keys')
    .description('manage the key ring that encrypts payloads and seals reports, and the key that signs decisions');
  withExamples(keys, 'credit-journey keys new --file my-keys.json');
  registerRing(keys);
  registerRewrap(keys);
  registerSigning(keys);
}

function registerRing(keys: Command): void {
  register(keys, {
    name: 'new',
    description: 'make a key ring file that its owner alone can read; an existing one is never overwritten',
    options: [new Option('--kms <name>', `have the keys wrapped by a key management service: ${KMS_NAMES}`), RING_FILE],
    example: 'keys new --file my-keys.json',
    run: async (options) => {
      const kms = await checkKmsName(options);
      const { createKeyRing } = await import('../../../protection/keys/key-ring.ts');
      const file = ringFile(options);
      const ring = await createKeyRing(file, { kms });
      const made = USES.map((use) => ({ use, id: ring.current(use).id }));
      return { file, keys: made, ...omitUndefined({ wrappedBy: ring.current('ledger').kms }) };
    },
    describe: ({ file, keys: made, wrappedBy }, { colors, width }) => [
      colors.green(`made the key ring ${file}`),
      ...made.map(({ use, id }) => `  ${use}  ${id}`),
      ...(wrappedBy === undefined ? [] : wrapperLines(wrappedBy, width)),
      'Keep a copy where the ledger’s backups are not: what it seals cannot be read without it.',
    ],
  });
  register(keys, {
    name: 'rotate',
    description: 'make new current keys; former keys still decrypt, and running workers follow by themselves',
    options: [
      new Option('--use <use>', `only for ${USES.join(' or ')} (default: both)`),
      new Option(
        '--kms <name>',
        `the service that wraps the new keys: ${KMS_NAMES} (default: the one that wraps the former keys, if any)`,
      ),
      RING_FILE,
    ],
    example: 'keys rotate',
    run: async (options) => {
      const uses = USES.filter((use) => use === (options.use ?? use));
      if (uses.length === 0) throw new UsageError(`--use must be ${USES.join(' or ')}`);
      const kms = await checkKmsName(options);
      const { rotateKeys } = await import('../../../protection/keys/key-ring-changes.ts');
      return { file: ringFile(options), rotated: await rotateKeys(ringFile(options), uses, { kms }) };
    },
    describe: ({ file, rotated }, { colors, width }) => [
      colors.green(`rotated the keys of ${file}`),
      ...rotated.map((key) => `  ${key.use}  ${key.current} encrypts, ${key.retired} decrypts`),
      ...wrap('Bring this file to every machine that has the key ring, and back it up again.', width),
      ...(rotated.some(({ use }) => use === 'ledger')
        ? wrap('`credit-journey keys rewrap` puts what the ledger holds under the new key.', width)
        : []),
    ],
  });
  register(keys, {
    name: 'check',
    description:
      'list the keys, their ages and what wraps them; exits with 3 when one has been encrypting for too long',
    options: [RING_FILE],
    example: 'keys check',
    run: async (options) => {
      const { examineKeyRing } = await import('../../../protection/keys/key-ring.ts');
      const { problem, ...found } = await examineKeyRing(ringFile(options));
      return { file: ringFile(options), ...found, isUsable: problem === null };
    },
    describe: ({ keys: ages, refused }, output) => ageLines(ages, refused, output),
    judge: async ({ file, keys: ages, isUsable }) => {
      const { loadKeyRing } = await import('../../../protection/keys/key-ring.ts');
      // Throws what keeps a worker from using it.
      if (!isUsable) await loadKeyRing(file);
      if (ages.some(({ verdict }) => verdict === 'overdue')) process.exitCode = EXIT.needsPerson;
    },
  });
  register(keys, {
    name: 'wrap',
    description: 'put the keys of a ring under a key management service; they stay the same keys, workers may run',
    options: [new Option('--kms <name>', `which one: ${KMS_NAMES}`).makeOptionMandatory(), RING_FILE],
    example: 'keys wrap --kms aws-kms:alias/credit-journey',
    run: async (options) => {
      const kms = (await checkKmsName(options)) ?? '';
      const { rewrapKeys } = await import('../../../protection/keys/key-ring-changes.ts');
      const { ids, wrappedBy = kms } = await rewrapKeys(ringFile(options), kms);
      return { file: ringFile(options), keys: ids, wrappedBy };
    },
    describe: ({ file, keys: ids, wrappedBy }, { colors, width }) => [
      colors.green(`wrapped the keys of ${file}`),
      ...ids.map((id) => `  ${id}`),
      ...wrapperLines(wrappedBy, width),
      ...wrap('Bring this file to every machine that has the key ring.', width),
      ...wrap('Copies from before still open without the service: destroy them, and rotate the keys.', width),
    ],
  });
  register(keys, {
    name: 'unwrap',
    description: 'put the keys of a ring into the file in the clear, to leave a key management service',
    options: [RING_FILE],
    example: 'keys unwrap',
    run: async (options) => {
      const { rewrapKeys } = await import('../../../protection/keys/key-ring-changes.ts');
      return { file: ringFile(options), keys: (await rewrapKeys(ringFile(options), null)).ids };
    },
    describe: ({ file, keys: ids }, { colors }) => [
      colors.green(`the keys of ${file} are in the clear: anyone who can read the file has them`),
      ...ids.map((id) => `  ${id}`),
    ],
  });
  register(keys, {
    name: 'refuse',
    description: 'declare that a key will never come: payloads that wait for it are refused, for good',
    argument: ['<key-id>', 'as the alert names it; not a key of this ring'],
    options: [RING_FILE],
    example: 'keys refuse payload-0123456789ab',
    run: async (options, keyId) => {
      const { refuseKey } = await import('../../../protection/keys/key-ring-changes.ts');
      const isNew = await refuseKey(ringFile(options), keyId);
      return { file: ringFile(options), keyId, refused: true, wasRefused: !isNew };
    },
    describe: ({ keyId, wasRefused }, { colors }) => [
      wasRefused ? `${keyId} was refused already` : colors.green(`${keyId} is refused from now on`),
    ],
  });
}

function registerRewrap(keys: Command): void {
  register(keys, {
    name: 'rewrap',
    description: 'wrap the ledger’s data keys under the current key; reports are not touched, workers may run',
    example: 'keys rewrap',
    run: () => withLedger((ledger) => ledger.rewrapDataKeys()),
    describe: ({ keyId, reports, secret, unreadable }, { colors, width }) => [
      colors.green(`wrapped under ${keyId}: ${reports} reports${secret ? ', and the ledger’s own secret' : ''}`),
      ...unreadable.flatMap((missing) =>
        wrap(
          `${missing.reports} reports are under ${missing.keyId}, which the key ring lacks: they cannot be read`,
          width,
        ).map((line) => colors.yellow(line)),
      ),
    ],
    judge: ({ unreadable }) => {
      if (unreadable.length > 0) process.exitCode = EXIT.needsPerson;
    },
  });
}

const WORKERS_FIRST =
  'Bring the key set to every worker and to the API (DECISION_JWKS_FILE); they read it again by themselves.';

function registerSigning(keys: Command): void {
  const signing = keys.command('signing').description('make and retire keys that the HTTP API signs decisions with');
  const example = 'keys signing new --file api-decisions.json --jwks decision-jwks.json';
  withExamples(signing, `credit-journey ${example}`);
  register(signing, {
    name: 'new',
    description: 'make a private key that its owner alone can read, and add its public key to the set',
    options: SIGNING_FILES,
    example,
    run: async (options) => {
      const files = signingFiles(options);
      const { makeSigningKey } = await import('../../../protection/keys/signing-keys.ts');
      return { ...files, keyId: await makeSigningKey(files) };
    },
    describe: ({ file, keySet, keyId }, { colors, width }) => [
      colors.green(`made the key ${keyId} in ${file}, and added its public key to ${keySet}`),
      ...wrap(`${WORKERS_FIRST} Then start every copy of the API with API_DECISION_KEY_FILE=${file}.`, width),
      ...wrap('It follows another key? A quarter of an hour later: `credit-journey keys signing retire`.', width),
    ],
  });
  register(signing, {
    name: 'retire',
    description: 'take a public key out of the set: decisions that it has signed are refused from then on',
    argument: ['<kid>', 'its id; not of the key that signs'],
    options: SIGNING_FILES,
    example: 'keys signing retire api-0123456789ab',
    run: async (options, keyId) => {
      const files = signingFiles(options);
      const { retireSigningKey } = await import('../../../protection/keys/signing-keys.ts');
      await retireSigningKey(files, keyId);
      return { ...files, keyId, retired: true };
    },
    describe: ({ keySet, keyId }, { colors, width }) => [
      colors.green(`${keySet} has ${keyId} no more`),
      ...wrap(WORKERS_FIRST, width),
    ],
  });
}

function ageLines(ages: readonly KeyAge[], refused: readonly string[], { colors, width }: Output): string[] {
  const advice: Record<KeyAge['verdict'], string> = {
    good: '',
    due: 'rotate it within two weeks',
    overdue: 'has encrypted for more than 90 days: rotate it now',
    retired: '',
  };
  const rows = ages.map((key) => [
    ...[key.use, key.id, key.status, `${key.ageDays} days`],
    ...[key.wrappedBy === undefined ? 'in the file' : 'wrapped', advice[key.verdict]],
  ]);
  const wrappers = new Set(ages.flatMap(({ wrappedBy }) => wrappedBy ?? []));
  const isToBeRotated = ages.some(({ verdict }) => verdict === 'due' || verdict === 'overdue');
  return [
    ...table(rows, width),
    ...[...wrappers].flatMap((name) => wrapperLines(name, width)),
    ...refused.map((id) => `refused  ${id}`),
    ...(isToBeRotated ? [colors.yellow('`credit-journey keys rotate` makes new ones')] : []),
  ];
}

/** On a line of its own: an ARN is as long as one, and is never cut. */
function wrapperLines(name: string, width: number): string[] {
  return wrap(`wrapped by ${name}`, width);
}

/** Reports a mistake on the command line, before it looks for a service. */
async function checkKmsName({ kms }: KeyOptions): Promise<string | undefined> {
  if (kms === undefined) return undefined;
  const { isKmsName, KMS_NAME_RULE } = await import('../../../protection/keys/kms.ts');
  if (!isKmsName(kms)) throw new UsageError(`--kms ${KMS_NAME_RULE}`);
  return kms;
}

function ringFile({ file }: KeyOptions): string {
  return file ?? (process.env.KEY_RING_FILE || DEFAULT_FILE);
}

function signingFiles({
  file = process.env.API_DECISION_KEY_FILE,
  jwks = process.env.DECISION_JWKS_FILE,
}: KeyOptions): { file: string; keySet: string } {
  if (!file) throw new UsageError('--file is required, or API_DECISION_KEY_FILE');
  if (!jwks) throw new UsageError('--jwks is required, or DECISION_JWKS_FILE');
  return { file, keySet: jwks };
}
