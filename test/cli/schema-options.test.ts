import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { UsageError } from '../../src/cli/output/errors.ts';
import {
  applyOptions,
  listSchemaMembers,
  mapOptionsByPath,
  requireOwnOptions,
  toOption,
  toOptionError,
} from '../../src/cli/output/schema-options.ts';
import { InvalidInputError } from '../../src/model/problems.ts';

const SCHEMA = z.union([
  z.strictObject({
    shareId: z.string().meta({ description: 'The share’s own id.' }),
    user: z.strictObject({ endUserCode: z.string(), name: z.string().optional() }).optional(),
    owner: z.strictObject({ name: z.string() }),
    applicants: z.array(z.strictObject({ ssn: z.string() })),
  }),
  z.strictObject({
    shareId: z.string(),
    occurrence: z.int(),
    acceptAge: z.literal(true),
    isLate: z.boolean(),
    kind: z.enum(['a', 'b']),
  }),
]);

const members = listSchemaMembers([SCHEMA]);

test('each member except lists has an option named after it, or after its path if two members share a name', () => {
  assert.deepEqual(
    members.map(({ path, flag, kind }) => [path, flag, kind]),
    [
      ['/shareId', '--share-id', 'text'],
      ['/user/endUserCode', '--end-user-code', 'text'],
      ['/user/name', '--user-name', 'text'],
      ['/owner/name', '--owner-name', 'text'],
      ['/occurrence', '--occurrence', 'number'],
      ['/acceptAge', '--accept-age', 'flag'],
      ['/isLate', '--is-late', 'boolean'],
      ['/kind', '--kind', 'text'],
    ],
  );
  const flags = members.map((member) => toOption(member).flags);
  assert.deepEqual(flags.slice(0, 2), ['--share-id <id>', '--end-user-code <code>']);
  assert.deepEqual(flags.slice(5, 7), ['--accept-age', '--is-late <late>']);
  assert.equal(members.at(-1)?.words, 'a, b');
});

test('options override the file’s content member by member', () => {
  const file = { shareId: 'S-1', user: { endUserCode: 'EU1', name: 'Bank' } };
  const given = { shareId: 'S-2', endUserCode: 'EU2', occurrence: '2', acceptAge: true, isLate: 'false' };
  assert.deepEqual(applyOptions(members, given, file), {
    ...{ shareId: 'S-2', user: { endUserCode: 'EU2', name: 'Bank' } },
    ...{ occurrence: 2, acceptAge: true, isLate: false },
  });
  assert.deepEqual(file.user, { endUserCode: 'EU1', name: 'Bank' }, 'the file’s own content is left as it is');
});

test('a problem names the option that was typed, or the path of a member from a file', () => {
  const names = mapOptionsByPath(members);
  assert.equal(names['/user'], '--end-user-code, --user-name');
  const error = new InvalidInputError([
    { path: '/user/endUserCode', rule: 'is wrong' },
    { path: '/shareId', rule: 'is wrong' },
  ]);
  const optionsOf = (given: Record<string, unknown>) =>
    (toOptionError(error, names, given) as InvalidInputError).problems.map((one) => 'option' in one && one.option);
  assert.deepEqual(optionsOf({}), ['--end-user-code', '--share-id']);
  assert.deepEqual(optionsOf({ file: '-', shareId: 'S-1' }), [false, '--share-id']);
});

test('an option of another operation of the command is refused', () => {
  const own = members.filter(({ path }) => path === '/shareId');
  requireOwnOptions(members, own, { shareId: 'S-1' }, 'of pull:P-1');
  const refused = () => requireOwnOptions(members, own, { kind: 'a' }, 'of pull:P-1');
  assert.throws(refused, (error) => error instanceof UsageError && error.message === '--kind is no option of pull:P-1');
});
