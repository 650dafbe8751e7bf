import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { RewrapResult } from '../../../ledger/records.ts';
import type { KeyAge } from '../../../protection/keys/key-ring.ts';
import type { KeyUse } from '../../../protection/keys/key-ring-file.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, type Output, table, wrap } from '../../output/output.ts';

// `keys signing`: the key that the HTTP API signs decisions with.

interface SigningOptions extends OutputOptions {
  file?: string;
  jwks?: string;
}

type Files = { file: string; keySet: string };
type Deeds = typeof import('../../../protection/keys/signing-keys.ts');

const WORKERS_FIRST =
  'Bring the key set to every worker and to the API (DECISION_JWKS_FILE); they read it again by themselves.';

function registerSigningKeyCommands(keys: Command): void {
  const signing = keys.command('signing').description('make and rotate the key that the HTTP API signs decisions with');
  withExamples(signing, 'credit-journey keys signing new --file api-decisions.json --jwks decision-jwks.json');
  registerDeed(signing, 'new', 'make a private key that its owner alone can read, and add its public key to the set', {
    act: async ({ makeSigningKey }, files) => ({ keyId: await makeSigningKey(files) }),
    describeAnswer: ({ keyId }, { file, keySet }) => [
      `made the key ${keyId} in ${file}, and added its public key to ${keySet}`,
      `${WORKERS_FIRST} Then start the API with API_DECISION_KEY_FILE.`,
    ],
  });
  registerDeed(signing, 'rotate', 'make the key that is to follow, and add its public key to the set', {
    act: ({ prepareSigningKey }, files) => prepareSigningKey(files),
    describeAnswer: ({ current, next }, { file }) => [
      `made the key ${next} in ${file}.next; the API still signs with ${current}`,
      `${WORKERS_FIRST} Then \`credit-journey keys signing activate\`.`,
    ],
  });
  registerDeed(signing, 'activate', 'put the prepared key in the place of the one that signs', {
    act: ({ activateSigningKey }, files) => activateSigningKey(files),
    describeAnswer: ({ former, current }) => [
      `the next start of the API signs with ${current}`,
      `Restart every copy of the API. A quarter of an hour after the last one: \`credit-journey keys signing retire ${former}\`.`,
    ],
  });
  const retire = signing
    .command('retire')
    .description('take a public key out of the set: decisions that it has signed are refused from then on')
    .argument('<kid>', 'its id; not of the key that signs');
  withExamples(withFileOptions(retire), 'credit-journey keys signing retire api-0123456789ab');
  retire.action(async (keyId: string, options: SigningOptions) => {
    const files = readFiles(options);
    const { retireSigningKey } = await import('../../../protection/keys/signing-keys.ts');
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
  {
    act,
    describeAnswer,
  }: { act(deeds: Deeds, files: Files): Promise<Answer>; describeAnswer(answer: Answer, files: Files): string[] },
): void {
  const command = withFileOptions(signing.command(name).description(description));
  withExamples(command, `credit-journey keys signing ${name} --file api-decisions.json --jwks decision-jwks.json`);
  command.action(async (options: SigningOptions) => {
    const files = readFiles(options);
    const answer = await act(await import('../../../protection/keys/signing-keys.ts'), files);
    const output = createOutput(options);
    output.answer({ ...files, ...answer }, () => {
      const [first = '', ...rest] = describeAnswer(answer, files);
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

function readFiles({
  file = process.env.API_DECISION_KEY_FILE,
  jwks = process.env.DECISION_JWKS_FILE,
}: SigningOptions): Files {
  if (!file) throw new UsageError('--file is required, or API_DECISION_KEY_FILE');
  if (!jwks) throw new UsageError('--jwks is required, or DECISION_JWKS_FILE');
  return { file, keySet: jwks };
}

const DEFAULT_FILE = '.credit-journey/keys.json';
const USES: readonly KeyUse[] = ['payload', 'ledger'];
const KMS_NAMES = 'aws-kms:<ARN, alias/name or key id>';

interface FileOptions extends OutputOptions {
  file?: string;
}

export function registerKeysCommand(program: Command): void {
  const keys = program
    .command('keys')
    .description('manage the key ring that encrypts payloads and seals reports, and the key that signs decisions');
  withExamples(keys, 'credit-journey keys new --file my-keys.json');
  registerNew(keys);
  registerRotate(keys);
  registerCheck(keys);
  registerWrap(keys);
  registerUnwrap(keys);
  registerRefuse(keys);
  registerRewrap(keys);
  registerSigningKeyCommands(keys);
}

function registerNew(keys: Command): void {
  const command = keys
    .command('new')
    .description('make a key ring file that its owner alone can read; an existing one is never overwritten');
  command.option('--kms <name>', `have the keys wrapped by a key management service: ${KMS_NAMES}`);
  withExamples(withFileOption(command), 'credit-journey keys new --file my-keys.json');
  command.action(async ({ kms, ...options }: FileOptions & { kms?: string }) => {
    await checkKmsName(kms);
    const path = readFile(options);
    const { createKeyRing } = await import('../../../protection/keys/key-ring.ts');
    const ring = await createKeyRing(path, { kms });
    const wrappedBy = ring.current('ledger').kms;
    const made = USES.map((use) => ({ use, id: ring.current(use).id }));
    const output = createOutput(options);
    output.answer({ file: path, keys: made, ...omitUndefined({ wrappedBy }) }, () => [
      output.colors.green(`made the key ring ${path}`),
      ...made.map(({ use, id }) => `  ${use}  ${id}`),
      ...(wrappedBy === undefined ? [] : wrapperLines(wrappedBy, output.width)),
      'Keep a copy where the ledger’s backups are not: what it seals cannot be read without it.',
    ]);
  });
}

function registerRotate(keys: Command): void {
  const command = keys
    .command('rotate')
    .description('make new current keys; former keys still decrypt, and running workers follow by themselves')
    .option('--use <use>', `only for ${USES.join(' or ')} (default: both)`)
    .option(
      '--kms <name>',
      `the service that wraps the new keys: ${KMS_NAMES} (default: the one that wraps the former keys, if any)`,
    );
  withExamples(withFileOption(command), 'credit-journey keys rotate');
  command.action(async ({ use, kms, ...options }: FileOptions & { use?: string; kms?: string }) => {
    const uses = readUses(use);
    await checkKmsName(kms);
    const path = readFile(options);
    const { rotateKeys } = await import('../../../protection/keys/key-ring-changes.ts');
    const rotated = await rotateKeys(path, uses, { kms });
    const output = createOutput(options);
    output.answer({ file: path, rotated }, () => [
      output.colors.green(`rotated the keys of ${path}`),
      ...rotated.map((key) => `  ${key.use}  ${key.current} encrypts, ${key.retired} decrypts`),
      ...wrap('Bring this file to every machine that has the key ring, and back it up again.', output.width),
      ...(uses.includes('ledger')
        ? wrap('`credit-journey keys rewrap` puts what the ledger holds under the new key.', output.width)
        : []),
    ]);
  });
}

function registerCheck(keys: Command): void {
  const command = keys
    .command('check')
    .description(
      'list the keys, their ages and what wraps them; exits with 3 when one has been encrypting for too long',
    );
  withExamples(withFileOption(command), 'credit-journey keys check');
  command.action(async (options: FileOptions) => {
    const path = readFile(options);
    const { examineKeyRing } = await import('../../../protection/keys/key-ring.ts');
    const { keys: ages, refused, problem } = await examineKeyRing(path);
    const output = createOutput(options);
    output.answer({ file: path, keys: ages, refused, isUsable: problem === null }, () =>
      ageLines(ages, refused, output),
    );
    if (problem) throw problem;
    if (ages.some(({ verdict }) => verdict === 'overdue')) process.exitCode = EXIT.needsPerson;
  });
}

function registerWrap(keys: Command): void {
  const command = keys
    .command('wrap')
    .description('put the keys of a ring under a key management service; they stay the same keys, workers may run')
    .requiredOption('--kms <name>', `which one: ${KMS_NAMES}`);
  withFileOption(command).addHelpText(
    'after',
    '\nExample:\n  $ credit-journey keys wrap --kms aws-kms:alias/credit-journey',
  );
  command.action(async ({ kms, ...options }: FileOptions & { kms: string }) => {
    await checkKmsName(kms);
    const path = readFile(options);
    const { rewrapKeys } = await import('../../../protection/keys/key-ring-changes.ts');
    const { ids, wrappedBy = kms } = await rewrapKeys(path, kms);
    const output = createOutput(options);
    output.answer({ file: path, keys: ids, wrappedBy }, () => [
      output.colors.green(`wrapped the keys of ${path}`),
      ...ids.map((id) => `  ${id}`),
      ...wrapperLines(wrappedBy, output.width),
      ...wrap('Bring this file to every machine that has the key ring.', output.width),
      ...wrap('Copies from before still open without the service: destroy them, and rotate the keys.', output.width),
    ]);
  });
}

function registerUnwrap(keys: Command): void {
  const command = keys
    .command('unwrap')
    .description('put the keys of a ring into the file in the clear, to leave a key management service');
  withExamples(withFileOption(command), 'credit-journey keys unwrap');
  command.action(async (options: FileOptions) => {
    const path = readFile(options);
    const { rewrapKeys } = await import('../../../protection/keys/key-ring-changes.ts');
    const { ids } = await rewrapKeys(path, null);
    const output = createOutput(options);
    output.answer({ file: path, keys: ids }, () => [
      output.colors.green(`the keys of ${path} are in the clear: anyone who can read the file has them`),
      ...ids.map((id) => `  ${id}`),
    ]);
  });
}

function registerRefuse(keys: Command): void {
  const command = keys
    .command('refuse')
    .description('declare that a key will never come: payloads that wait for it are refused, for good')
    .argument('<key-id>', 'as the alert names it; not a key of this ring');
  withExamples(withFileOption(command), 'credit-journey keys refuse payload-0123456789ab');
  command.action(async (keyId: string, options: FileOptions) => {
    const path = readFile(options);
    const { refuseKey } = await import('../../../protection/keys/key-ring-changes.ts');
    const isNew = await refuseKey(path, keyId);
    const output = createOutput(options);
    output.answer({ file: path, keyId, refused: true, wasRefused: !isNew }, () => [
      isNew ? output.colors.green(`${keyId} is refused from now on`) : `${keyId} was refused already`,
    ]);
  });
}

function registerRewrap(keys: Command): void {
  const command = keys
    .command('rewrap')
    .description('wrap the ledger’s data keys under the current key; reports are not touched, workers may run');
  withExamples(withOutputOptions(command), 'credit-journey keys rewrap');
  command.action(async (options: OutputOptions) => {
    const result = await rewrapLedger();
    const output = createOutput(options);
    output.answer(result, () => rewrapLines(result, output));
    if (result.unreadable.length > 0) process.exitCode = EXIT.needsPerson;
  });
}

async function rewrapLedger(): Promise<RewrapResult> {
  const { loadLedgerAccess } = await import('../../../config/ledger.ts');
  const access = loadLedgerAccess(process.env);
  const [{ openLedger }, { openKeyRing }] = await Promise.all([
    import('../../../ledger/open-ledger.ts'),
    import('../../../protection/keys/key-ring.ts'),
  ]);
  const { url, expectedId } = access.ledger;
  const ledger = await openLedger({
    url,
    environment: access.environment,
    keyRing: await openKeyRing({ ...access, keyRingMayBeMade: false }),
    create: false,
    ...omitUndefined({ expectedId }),
  });
  try {
    return await ledger.rewrapDataKeys();
  } finally {
    await ledger.close();
  }
}

function rewrapLines({ keyId, reports, secret, unreadable }: RewrapResult, output: Output): string[] {
  return [
    output.colors.green(`wrapped under ${keyId}: ${reports} reports${secret ? ', and the ledger’s own secret' : ''}`),
    ...unreadable.flatMap((missing) =>
      wrap(
        `${missing.reports} reports are under ${missing.keyId}, which the key ring lacks: they cannot be read`,
        output.width,
      ).map((line) => output.colors.yellow(line)),
    ),
  ];
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
async function checkKmsName(name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const { isKmsName, KMS_NAME_RULE } = await import('../../../protection/keys/kms.ts');
  if (!isKmsName(name)) throw new UsageError(`--kms ${KMS_NAME_RULE}`);
}

function readUses(use: string | undefined): readonly KeyUse[] {
  if (use === undefined) return USES;
  const known = USES.find((candidate) => candidate === use);
  if (!known) throw new UsageError(`--use must be ${USES.join(' or ')}`);
  return [known];
}

function withFileOption(command: Command): Command {
  return withOutputOptions(
    command.option('--file <path>', `the key ring (default: KEY_RING_FILE, else ${DEFAULT_FILE})`),
  );
}

function readFile({ file }: FileOptions): string {
  return file ?? (process.env.KEY_RING_FILE || DEFAULT_FILE);
}
