/** `keys`: the key ring of payloads and reports, and `keys signing`: the key that the HTTP API signs decisions with. */
import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { KeyUse } from '../../../protection/keys/key-ring.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, documentLines, wrap } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

interface KeyOptions extends OutputOptions {
  file?: string;
  jwks?: string;
  kms?: string;
  use?: string;
}

interface KeyCommand<Files> {
  name: string;
  description: string;
  argument?: readonly [name: string, words: string];
  options?: readonly (readonly [flags: string, words: string])[];
  example: string;
  /** Says how the operator continues. */
  next?: string;
  act(files: Files, options: KeyOptions, argument: string): Promise<KeyAnswer>;
}

interface KeyAnswer {
  answer: object;
  needsPerson?: boolean;
  /** Thrown once the answer has been printed. */
  problem?: Error | null;
}

const DEFAULT_FILE = '.credit-journey/keys.json';
const USES: readonly KeyUse[] = ['payload', 'ledger'];
const KMS_NAMES = 'aws-kms:<ARN, alias/name or key id>';
const COPY_FILE = 'Bring this file to every machine that has the key ring.';

const RING_COMMANDS: readonly KeyCommand<string>[] = [
  {
    name: 'new',
    description: 'make a key ring file that its owner alone can read; an existing one is never overwritten',
    options: [['--kms <name>', `have the keys wrapped by a key management service: ${KMS_NAMES}`]],
    example: 'credit-journey keys new --file my-keys.json',
    next: 'Keep a copy where the ledger’s backups are not: what it seals cannot be read without it.',
    async act(file, { kms }) {
      const { createKeyRing } = await import('../../../protection/keys/key-ring.ts');
      const ring = await createKeyRing(file, { kms });
      const keys = USES.map((use) => ({ use, id: ring.current(use).id }));
      return { answer: { file, keys, ...omitUndefined({ wrappedBy: ring.current('ledger').kms }) } };
    },
  },
  {
    name: 'rotate',
    description: 'make new current keys; former keys still decrypt, and running workers follow by themselves',
    options: [
      ['--use <use>', `only for ${USES.join(' or ')} (default: both)`],
      ['--kms <name>', `wraps the new keys: ${KMS_NAMES} (default: what wraps the former keys, if anything)`],
    ],
    example: 'credit-journey keys rotate',
    next: `${COPY_FILE} Back it up again. \`credit-journey keys rewrap\` puts what the ledger holds under a new ledger key.`,
    async act(file, { use, kms }) {
      const uses = USES.filter((candidate) => use === undefined || candidate === use);
      if (uses.length === 0) throw new UsageError(`--use must be ${USES.join(' or ')}`);
      const { rotateKeys } = await import('../../../protection/keys/key-ring.ts');
      return { answer: { file, rotated: await rotateKeys(file, uses, { kms }) } };
    },
  },
  {
    name: 'check',
    description: 'list the keys, their ages and what wraps them; exits with 3 when a key has been in use for too long',
    example: 'credit-journey keys check',
    async act(file) {
      const { examineKeyRing } = await import('../../../protection/keys/key-ring.ts');
      const { keys, refused, problem } = await examineKeyRing(file);
      const needsPerson = keys.some(({ verdict }) => verdict === 'overdue');
      return { answer: { file, keys, refused, isUsable: problem === null }, needsPerson, problem };
    },
  },
  {
    name: 'wrap',
    description:
      'wrap the keys of a ring with a key management service; the keys stay the same, and workers may keep running',
    options: [['--kms <name>', `which one: ${KMS_NAMES}`]],
    example: 'credit-journey keys wrap --kms aws-kms:alias/credit-journey',
    next: `${COPY_FILE} Copies from before still open without the service: destroy them, and rotate the keys.`,
    async act(file, { kms }) {
      if (kms === undefined) throw new UsageError('--kms is required');
      const { rewrapKeys } = await import('../../../protection/keys/key-ring.ts');
      const { ids, wrappedBy = kms } = await rewrapKeys(file, kms);
      return { answer: { file, keys: ids, wrappedBy } };
    },
  },
  {
    name: 'unwrap',
    description: 'put the keys of a ring into the file in the clear, to leave a key management service',
    example: 'credit-journey keys unwrap',
    next: 'Anyone who can read the file has the keys.',
    async act(file) {
      const { rewrapKeys } = await import('../../../protection/keys/key-ring.ts');
      return { answer: { file, keys: (await rewrapKeys(file, null)).ids } };
    },
  },
  {
    name: 'refuse',
    description: 'declare that a key will never come: workers refuse, for good, the payloads that wait for it',
    argument: ['<key-id>', 'as the alert names it; not a key of this ring'],
    example: 'credit-journey keys refuse payload-0123456789ab',
    async act(file, _, keyId) {
      const { refuseKey } = await import('../../../protection/keys/key-ring.ts');
      return { answer: { file, keyId, refused: true, wasRefused: !(await refuseKey(file, keyId)) } };
    },
  },
  {
    name: 'rewrap',
    description:
      'wrap the ledger’s data keys under the current key; reports stay as they are, and workers may keep running',
    example: 'credit-journey keys rewrap',
    async act() {
      const answer = await withLedger((ledger) => ledger.rewrapDataKeys());
      return { answer, needsPerson: answer.unreadable.length > 0 };
    },
  },
];

type SigningFiles = { file: string; keySet: string };

const signingKeys = () => import('../../../protection/keys/signing-keys.ts');
const SIGNING_FILES = '--file api-decisions.json --jwks decision-jwks.json';
const WORKERS_FIRST =
  'Bring the key set to every worker and to the API (DECISION_JWKS_FILE); they read it again by themselves.';

const SIGNING_COMMANDS: readonly KeyCommand<SigningFiles>[] = [
  {
    name: 'new',
    description: 'make a private key that its owner alone can read, and add its public key to the set',
    example: `credit-journey keys signing new ${SIGNING_FILES}`,
    next:
      `${WORKERS_FIRST} Then start every copy of the API with API_DECISION_KEY_FILE. It follows another key? ` +
      'A quarter of an hour later: `credit-journey keys signing retire`.',
    act: async (files) => ({ answer: { ...files, keyId: await (await signingKeys()).makeSigningKey(files) } }),
  },
  {
    name: 'retire',
    description: 'take a public key out of the set: decisions that it has signed are refused from then on',
    argument: ['<kid>', 'its id; not of the key that signs'],
    example: 'credit-journey keys signing retire api-0123456789ab',
    next: WORKERS_FIRST,
    async act(files, _, keyId) {
      await (await signingKeys()).retireSigningKey(files, keyId);
      return { answer: { ...files, keyId, retired: true } };
    },
  },
];

export function registerKeysCommand(program: Command): void {
  const keys = program
    .command('keys')
    .description('manage the key ring that encrypts payloads and seals reports, and the key that signs decisions');
  withExamples(keys, 'credit-journey keys new --file my-keys.json');
  const ring = ['--file <path>', `the key ring (default: KEY_RING_FILE, else ${DEFAULT_FILE})`] as const;
  for (const command of RING_COMMANDS) registerKeyCommand(keys, command, [ring], readRingFile);
  const signing = keys.command('signing').description('make and retire keys that the HTTP API signs decisions with');
  withExamples(signing, `credit-journey keys signing new ${SIGNING_FILES}`);
  const files = [
    ['--file <path>', 'the private key (default: API_DECISION_KEY_FILE)'],
    ['--jwks <path>', 'the key set with the public keys (default: DECISION_JWKS_FILE)'],
  ] as const;
  for (const command of SIGNING_COMMANDS) registerKeyCommand(signing, command, files, readSigningFiles);
}

function registerKeyCommand<Files>(
  parent: Command,
  { name, description, argument, options = [], example, next, act }: KeyCommand<Files>,
  fileOptions: readonly (readonly [flags: string, words: string])[],
  readFiles: (options: KeyOptions) => Files,
): void {
  const command = parent.command(name).description(description);
  if (argument) command.argument(...argument);
  for (const option of [...options, ...fileOptions]) command.option(...option);
  withExamples(withOutputOptions(command), example);
  command.action(async (...given: unknown[]) => {
    const keyOptions = given[argument ? 1 : 0] as KeyOptions;
    await checkKmsName(keyOptions.kms);
    const files = readFiles(keyOptions);
    const { answer, needsPerson, problem } = await act(files, keyOptions, argument ? String(given[0]) : '');
    const output = createOutput(keyOptions);
    output.answer(answer, () => [
      ...documentLines(answer, output.width),
      ...(next === undefined ? [] : wrap(next, output.width)),
    ]);
    if (problem) throw problem;
    if (needsPerson) process.exitCode = EXIT.needsPerson;
  });
}

/** Reports a mistake on the command line, before it looks for a service. */
async function checkKmsName(name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const { isKmsName, KMS_NAME_RULE } = await import('../../../protection/keys/kms.ts');
  if (!isKmsName(name)) throw new UsageError(`--kms ${KMS_NAME_RULE}`);
}

function readRingFile({ file }: KeyOptions): string {
  return file ?? (process.env.KEY_RING_FILE || DEFAULT_FILE);
}

function readSigningFiles({
  file = process.env.API_DECISION_KEY_FILE,
  jwks = process.env.DECISION_JWKS_FILE,
}: KeyOptions): SigningFiles {
  if (!file) throw new UsageError('--file is required, or API_DECISION_KEY_FILE');
  if (!jwks) throw new UsageError('--jwks is required, or DECISION_JWKS_FILE');
  return { file, keySet: jwks };
}
