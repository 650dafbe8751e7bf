import { randomBytes } from 'node:crypto';
import { link, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Placing {
  mode: number;
  /** The owner of the replaced file: a file that `root` writes must not lock out the worker's own user. */
  owner?: { uid: number; gid: number } | undefined;
  /** Fails with `EEXIST` where there is a file already. */
  isNew?: boolean;
}

/** Writes a file of JSON aside and moves it into its place, so that a reader always sees a complete file. */
export async function placeFile(file: string, content: object, { mode, owner, isNew = false }: Placing): Promise<void> {
  const directory = dirname(file);
  const aside = join(directory, `.aside-${randomBytes(8).toString('hex')}`);
  await using handle = await open(aside, 'wx', mode);
  try {
    // The process's umask may have removed rights that other programs need.
    await handle.chmod(mode);
    await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
    if (owner && process.platform !== 'win32') await handle.chown(owner.uid, owner.gid);
    await handle.sync();
    await (isNew ? link(aside, file) : rename(aside, file));
    if (process.platform === 'win32') return;
    await using folder = await open(directory, 'r');
    await folder.sync();
  } finally {
    await unlink(aside).catch(() => {});
  }
}
