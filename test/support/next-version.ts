/**
 * Makes the next version as a tree of its own: this code with one more version of the tables, which adds a fence. The
 * fence is a column of `attempts` that each claim of the newer version fills, and that older versions leave empty.
 */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The column in `attempts`: 0 in rows from before the migration, 1 from the newer version, NULL from an older one. */
export const NEXT_FENCE = 'next_fence';

const EDITS: readonly { file: string; find: string; replace: string }[] = [
  {
    file: 'src/ledger/database/schema.ts',
    find: ' = [createTables];',
    replace: ` = [\n  createTables,\n  () => ['ALTER TABLE attempts ADD COLUMN ${NEXT_FENCE} BIGINT', 'UPDATE attempts SET ${NEXT_FENCE} = 0'],\n];`,
  },
  {
    file: 'src/ledger/database/schema.ts',
    find: 'oldestWriter: 0 };',
    replace: 'oldestWriter: 2 };',
  },
  {
    file: 'src/ledger/inquiries/inquiry-transactions.ts',
    find: "        position: '(SELECT",
    replace: `        ${NEXT_FENCE}: '1',\n        position: '(SELECT`,
  },
];

/** Makes the tree. Returns its directory, which the caller removes. */
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
