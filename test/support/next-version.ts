/**
 * The version after this one, as a tree of its own: this very code with one more version of the tables, which brings a
 * fence. The fence is a column of `attempts` that each claim of the newer version fills, and an older one's leaves empty.
 */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Of `attempts` after the migration: 0 in rows from before it, 1 in the newer version's, NULL in an older one's. */
export const NEXT_FENCE = 'next_fence';

const EDITS: readonly { file: string; find: string; replace: string }[] = [
  {
    file: 'src/ledger/database/schema.ts',
    find: ' = [createTables];',
    replace: ` = [\n  createTables,\n  () => ['ALTER TABLE attempts ADD COLUMN ${NEXT_FENCE} BIGINT', 'UPDATE attempts SET ${NEXT_FENCE} = 0'],\n];`,
  },
  {
    file: 'src/ledger/database/schema.ts',
    find: 'WITHOUT_OLDER_WRITERS: readonly number[] = []',
    replace: 'WITHOUT_OLDER_WRITERS: readonly number[] = [2]',
  },
  {
    file: 'src/ledger/inquiries/inquiry-writes.ts',
    find: "        position: '(SELECT",
    replace: `        ${NEXT_FENCE}: '1',\n        position: '(SELECT`,
  },
];

/** Returns the tree's directory, which the caller removes. */
export async function buildNextVersion(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-next-'));
  for (const name of ['src', 'sandbox', 'package.json', 'tsconfig.json']) {
    await cp(join(ROOT, name), join(directory, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'), 'dir');
  for (const { file, find, replace } of EDITS) {
    const path = join(directory, file);
    const text = await readFile(path, 'utf8');
    assert.equal(text.split(find).length, 2, find);
    await writeFile(
      path,
      text.replace(find, () => replace),
    );
  }
  return directory;
}
