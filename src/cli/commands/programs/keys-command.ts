/** `keys`: the key ring of payloads and reports, and `keys signing`: the key that the HTTP API signs decisions with. */
import type { KeyUse } from '../../../protection/keys/key-ring.ts';
import { EXIT, UsageError } from '../../output/errors.ts';
import type { Answer, CommandRow, Context } from '../command.ts';

type KeyOptions = Partial<Record<'file' | 'jwks' | 'kms' | 'use', string>> & { removeRetired?: boolean };

interface KeyCommand extends Pick<CommandRow, 'name' | 'description' | 'arguments' | 'options'> {
  example: string;
  /** Says how the operator continues. */
  next?: readonly string[];
  /** @param context with the file of the key ring, and the functions for it */
  act(
    context: Context<KeyOptions> & { file: string; rings: typeof import('../../../protection/keys/key-ring.ts') },
  ): Promise<Answer>;
}

const DEFAULT_FILE = '.credit-journey/keys.json';
const USES: readonly KeyUse[] = ['payload', 'ledger'];
const KMS_NAMES = 'aws-kms:<ARN, alias/name or key id>';
const COPY_FILE = 'Copy this file to every machine that has the key ring.';

const RING_FILE = ['--file <path>', `the key ring (default: KEY_RING_FILE, else ${DEFAULT_FILE})`] as const;
const KEY_COMMANDS: readonly KeyCommand[] = [
  {
    name: 'new',
    description: 'make a key ring file that its owner alone can read; an existing one is never overwritten',
    options: [RING_FILE, ['--kms <name>', `have the keys wrapped by a key management service: ${KMS_NAMES}`]],
    example: 'credit-journey keys new --file my-keys.json',
    next: ['Keep a copy apart from the ledger’s backups: without it, nothing that the ledger has sealed can be read.'],
    async act({ file, rings, options }) {
      const ring = await rings.createKeyRing(file, options);
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
    next: [
      `${COPY_FILE} Back it up again. \`credit-journey keys rewrap\` puts what the ledger holds under a new ledger key.`,
    ],
    async act({ file, rings, options: { use, kms } }) {
      const uses = USES.filter((candidate) => use === undefined || candidate === use);
      if (uses.length === 0) throw new UsageError(`--use must be ${USES.join(' or ')}`);
      return { answer: { file, rotated: await rings.rotateKeys(file, uses, { kms }) } };
    },
  },
  {
    name: 'check',
    description: 'list the keys, their ages and what wraps them; exits with 3 when a key has been in use for too long',
    options: [RING_FILE],
    example: 'credit-journey keys check',
    async act({ file, rings }) {
      const { keys, refused, problem } = await rings.examineKeyRing(file);
      const isOverdue = keys.some(({ verdict }) => verdict === 'overdue');
      const answer = { file, keys, refused, isUsable: problem === null };
      return { answer, exitCode: isOverdue ? EXIT.needsPerson : EXIT.done, problem };
    },
  },
  {
    name: 'wrap',
    description:
      'wrap the keys of a ring with a key management service; the keys stay the same, and workers may keep running',
    options: [RING_FILE, ['--kms <name>', `which one: ${KMS_NAMES}`]],
    example: 'credit-journey keys wrap --kms aws-kms:alias/credit-journey',
    next: [`${COPY_FILE} Older copies still open without the service: destroy them, and rotate the keys.`],
    async act({ file, rings, options: { kms } }) {
      if (kms === undefined) throw new UsageError('--kms is required');
      const { ids, wrappedBy = kms } = await rings.rewrapKeys(file, kms);
      return { answer: { file, keys: ids, wrappedBy } };
    },
  },
  {
    name: 'unwrap',
    description: 'unwrap the keys of a ring into the file, in the clear, to stop using a key management service',
    options: [RING_FILE],
    example: 'credit-journey keys unwrap',
    next: ['Anyone who can read the file has the keys.'],
    async act({ file, rings }) {
      return { answer: { file, keys: (await rings.rewrapKeys(file, null)).ids } };
    },
  },
  {
    name: 'refuse',
    description: 'declare that a key is lost: workers refuse for good the payloads that wait for it',
    arguments: [['<key-id>', 'the key id from the alert; not a key of this ring']],
    options: [RING_FILE],
    example: 'credit-journey keys refuse payload-0123456789ab',
    async act({ args, file, rings }) {
      const keyId = args['key-id'] ?? '';
      return { answer: { file, keyId, refused: true, wasRefused: !(await rings.refuseKey(file, keyId)) } };
    },
  },
  {
    name: 'rewrap',
    description:
      'wrap the ledger’s data keys under the current key; reports stay as they are, and workers may keep running',
    options: [
      ['--remove-retired', 'where it found nothing to wrap, take the retired ledger keys out of the ring, for good'],
    ],
    example: 'credit-journey keys rewrap',
    async act({ file, rings, openLedger, options: { removeRetired } }) {
      const answer = await (await openLedger()).rewrapDataKeys();
      const isClean = answer.unreadable.length === 0;
      if (!removeRetired) return { answer, exitCode: isClean ? EXIT.done : EXIT.needsPerson };
      // A program that has the former key ring may seal more, as long as there was something to wrap.
      const mayRemove = isClean && answer.reports === 0 && !answer.secret;
      const removed = mayRemove ? await rings.removeRetiredLedgerKeys(file) : [];
      return { answer: { ...answer, removed }, exitCode: mayRemove ? EXIT.done : EXIT.needsPerson };
    },
  },
  {
    name: 'signing new',
    description: 'make a private key that its owner alone can read, and add its public key to the set',
    options: [
      ['--file <path>', 'the private key (default: API_DECISION_KEY_FILE)'],
      ['--jwks <path>', 'the key set with the public keys (default: DECISION_JWKS_FILE)'],
    ],
    example: 'credit-journey keys signing new --file api-decisions.json --jwks decision-jwks.json',
    next: [
      'Copy the key set to every worker and to the API (DECISION_JWKS_FILE); they read it again by themselves. Then start ' +
        'every copy of the API with API_DECISION_KEY_FILE. If it replaces another key, take the former key out of the set a ' +
        'quarter of an hour later.',
    ],
    async act({ options }) {
      const { file = process.env.API_DECISION_KEY_FILE, jwks: keySet = process.env.DECISION_JWKS_FILE } = options;
      if (!file) throw new UsageError('--file is required, or API_DECISION_KEY_FILE');
      if (!keySet) throw new UsageError('--jwks is required, or DECISION_JWKS_FILE');
      const { makeSigningKey } = await import('../../../protection/keys/signing-keys.ts');
      return { answer: { file, keySet, keyId: await makeSigningKey({ file, keySet }) } };
    },
  },
];

export const COMMANDS: readonly CommandRow[] = KEY_COMMANDS.map(({ name, example, next, act, ...row }) => ({
  ...row,
  name: `keys ${name}`,
  common: ['output'],
  examples: [example],
  async run(context: Context<KeyOptions>) {
    const { kms, file = process.env.KEY_RING_FILE || DEFAULT_FILE } = context.options;
    if (kms !== undefined) {
      // Reports a mistake on the command line, before it looks for a service.
      const { isKmsName, KMS_NAME_RULE } = await import('../../../protection/keys/kms.ts');
      if (!isKmsName(kms)) throw new UsageError(`--kms ${KMS_NAME_RULE}`);
    }
    const rings = await import('../../../protection/keys/key-ring.ts');
    return { ...(await act({ ...context, file, rings })), next };
  },
}));
