/** `keys`: the key ring of payloads and reports, and `keys signing`: the key that the HTTP API signs decisions with. */
import type { Command } from 'commander';
import type { KeyUse } from '../../../protection/keys/key-ring.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, formatDocument, wrap } from '../../output/output.ts';
import { withLedger } from '../connections.ts';

interface KeyOptions extends OutputOptions {
  file?: string;
  jwks?: string;
  kms?: string;
  use?: string;
}

interface KeyCommand {
  name: string;
  description: string;
  argument?: readonly [name: string, words: string];
  options?: readonly (readonly [flags: string, words: string])[];
  example: string;
  /** Says how the operator continues. */
  next?: string;
  act(options: KeyOptions, argument: string): Promise<KeyAnswer>;
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
const COPY_FILE = 'Copy this file to every machine that has the key ring.';

const loadKeyRings = () => import('../../../protection/keys/key-ring.ts');
const loadSigningKeys = () => import('../../../protection/keys/signing-keys.ts');

const SIGNING_FILES = '--file api-decisions.json --jwks decision-jwks.json';
const WORKERS_FIRST =
  'Copy the key set to every worker and to the API (DECISION_JWKS_FILE); they read it again by themselves.';
const RING_FILE = ['--file <path>', `the key ring (default: KEY_RING_FILE, else ${DEFAULT_FILE})`] as const;
const KEY_SET = [
  ['--file <path>', 'the private key (default: API_DECISION_KEY_FILE)'],
  ['--jwks <path>', 'the key set with the public keys (default: DECISION_JWKS_FILE)'],
] as const;

const KEY_COMMANDS: readonly KeyCommand[] = [
  {
    name: 'new',
    description: 'make a key ring file that its owner alone can read; an existing one is never overwritten',
    options: [RING_FILE, ['--kms <name>', `have the keys wrapped by a key management service: ${KMS_NAMES}`]],
    example: 'credit-journey keys new --file my-keys.json',
    next: 'Keep a copy apart from the ledger’s backups: without it, nothing that the ledger has sealed can be read.',
    async act(options) {
      const file = findRing(options);
      const ring = await (await loadKeyRings()).createKeyRing(file, options);
      const keys = USES.map((use) => ({ use, id: ring.current(use).id }));
      return { answer: { file, keys, wrappedBy: ring.current('ledger').kms } };
    },
  },
  {
    name: 'rotate',
    description: 'make new current keys; former keys still decrypt, and running workers follow by themselves',
    options: [
      RING_FILE,
      ['--use <use>', `only for ${USES.join(' or ')} (default: both)`],
      ['--kms <name>', `wraps the new keys: ${KMS_NAMES} (default: what wraps the former keys, if anything)`],
    ],
    example: 'credit-journey keys rotate',
    next: `${COPY_FILE} Back it up again. \`credit-journey keys rewrap\` puts what the ledger holds under a new ledger key.`,
    async act(options) {
      const file = findRing(options);
      const { use, kms } = options;
      const uses = USES.filter((candidate) => use === undefined || candidate === use);
      if (uses.length === 0) throw new UsageError(`--use must be ${USES.join(' or ')}`);
      return { answer: { file, rotated: await (await loadKeyRings()).rotateKeys(file, uses, { kms }) } };
    },
  },
  {
    name: 'check',
    description: 'list the keys, their ages and what wraps them; exits with 3 when a key has been in use for too long',
    options: [RING_FILE],
    example: 'credit-journey keys check',
    async act(options) {
      const file = findRing(options);
      const { keys, refused, problem } = await (await loadKeyRings()).examineKeyRing(file);
      const needsPerson = keys.some(({ verdict }) => verdict === 'overdue');
      return { answer: { file, keys, refused, isUsable: problem === null }, needsPerson, problem };
    },
  },
  {
    name: 'wrap',
    description:
      'wrap the keys of a ring with a key management service; the keys stay the same, and workers may keep running',
    options: [RING_FILE, ['--kms <name>', `which one: ${KMS_NAMES}`]],
    example: 'credit-journey keys wrap --kms aws-kms:alias/credit-journey',
    next: `${COPY_FILE} Older copies still open without the service: destroy them, and rotate the keys.`,
    async act(options) {
      const { kms } = options;
      if (kms === undefined) throw new UsageError('--kms is required');
      const { ids, wrappedBy = kms } = await (await loadKeyRings()).rewrapKeys(findRing(options), kms);
      return { answer: { file: findRing(options), keys: ids, wrappedBy } };
    },
  },
  {
    name: 'unwrap',
    description: 'unwrap the keys of a ring into the file, in the clear, to stop using a key management service',
    options: [RING_FILE],
    example: 'credit-journey keys unwrap',
    next: 'Anyone who can read the file has the keys.',
    async act(options) {
      const file = findRing(options);
      return { answer: { file, keys: (await (await loadKeyRings()).rewrapKeys(file, null)).ids } };
    },
  },
  {
    name: 'refuse',
    description: 'declare that a key is lost: workers refuse for good the payloads that wait for it',
    argument: ['<key-id>', 'the key id from the alert; not a key of this ring'],
    options: [RING_FILE],
    example: 'credit-journey keys refuse payload-0123456789ab',
    async act(options, keyId) {
      const file = findRing(options);
      return {
        answer: { file, keyId, refused: true, wasRefused: !(await (await loadKeyRings()).refuseKey(file, keyId)) },
      };
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
  {
    name: 'signing new',
    description: 'make a private key that its owner alone can read, and add its public key to the set',
    options: KEY_SET,
    example: `credit-journey keys signing new ${SIGNING_FILES}`,
    next:
      `${WORKERS_FIRST} Then start every copy of the API with API_DECISION_KEY_FILE. If it replaces another key, ` +
      'take the former key out of the set a quarter of an hour later.',
    async act(options) {
      const files = findKeySet(options);
      return { answer: { ...files, keyId: await (await loadSigningKeys()).makeSigningKey(files) } };
    },
  },
];

export function registerKeysCommand(program: Command): void {
  const keys = program
    .command('keys')
    .description('manage the key ring that encrypts payloads and seals reports, and the key that signs decisions');
  const signing = keys.command('signing').description('make keys that the HTTP API signs decisions with');
  for (const { name, description, argument, options = [], example, next, act } of KEY_COMMANDS) {
    const [last = '', group] = name.split(' ').reverse();
    const command = (group ? signing : keys).command(last).description(description);
    if (argument) command.argument(...argument);
    for (const option of options) command.option(...option);
    withExamples(withOutputOptions(command), example);
    command.action(async (...given: unknown[]) => {
      const keyOptions = given[argument ? 1 : 0] as KeyOptions;
      await checkKmsName(keyOptions.kms);
      const { answer, needsPerson, problem } = await act(keyOptions, String(given[0]));
      const output = createOutput(keyOptions);
      output.answer(answer, () => [
        ...formatDocument(answer, output.width),
        ...(next === undefined ? [] : wrap(next, output.width)),
      ]);
      if (problem) throw problem;
      if (needsPerson) process.exitCode = EXIT.needsPerson;
    });
  }
}

/** Reports a mistake on the command line, before it looks for a service. */
async function checkKmsName(name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const { isKmsName, KMS_NAME_RULE } = await import('../../../protection/keys/kms.ts');
  if (!isKmsName(name)) throw new UsageError(`--kms ${KMS_NAME_RULE}`);
}

function findRing({ file }: KeyOptions): string {
  return file ?? (process.env.KEY_RING_FILE || DEFAULT_FILE);
}

function findKeySet({ file = process.env.API_DECISION_KEY_FILE, jwks = process.env.DECISION_JWKS_FILE }: KeyOptions) {
  if (!file) throw new UsageError('--file is required, or API_DECISION_KEY_FILE');
  if (!jwks) throw new UsageError('--jwks is required, or DECISION_JWKS_FILE');
  return { file, keySet: jwks };
}
