/** Takes the ledger's own syncs of its log into the test's hands. SQLite's syncs, which are not Node's, stay as they are. */
import { type FileHandle, open } from 'node:fs/promises';
import type { TestContext } from 'node:test';

export interface HeldSyncs {
  /** Syncs that have begun. */
  readonly begun: number;
  /** Resolves when a sync waits to be let through. */
  waiting(): Promise<void>;
  /** Lets syncs through from now on, those that wait included; `error` fails those that wait, and no later one. */
  release(error?: Error): void;
  /** Holds those that begin from now on. */
  hold(): void;
}

/** Gives `change` the prototype whose `datasync` the ledger calls. */
export async function aroundSyncs(change: (prototype: FileHandle) => void): Promise<void> {
  const handle = await open(import.meta.filename);
  change(Object.getPrototypeOf(handle));
  await handle.close();
}

/** `around` carries a sync out, and may look at the files before and after. */
export async function watchSyncs(t: TestContext, around: (sync: () => Promise<void>) => Promise<void>): Promise<void> {
  await aroundSyncs((prototype) => {
    const original = prototype.datasync;
    t.mock.method(prototype, 'datasync', function (this: FileHandle) {
      return around(() => original.call(this));
    });
  });
}

/** Before anything that is closed after the test: closing waits for syncs, which are let through first. */
export async function holdSyncs(t: TestContext): Promise<HeldSyncs> {
  let begun = 0;
  let isHeld = false;
  const held: ((error?: Error) => void)[] = [];
  const announce: (() => void)[] = [];
  await watchSyncs(t, async (sync) => {
    begun++;
    if (isHeld) {
      await new Promise<void>((resolve, reject) => {
        held.push((error) => (error ? reject(error) : resolve()));
        for (const tell of announce.splice(0)) tell();
      });
    }
    await sync();
  });
  const release = (error?: Error) => {
    isHeld = false;
    for (const go of held.splice(0)) go(error);
  };
  t.after(() => release());
  return {
    get begun() {
      return begun;
    },
    waiting: () => (held.length > 0 ? Promise.resolve() : new Promise((resolve) => announce.push(resolve))),
    release,
    hold() {
      isHeld = true;
    },
  };
}

/** Whether it has neither resolved nor rejected after all that can happen without a sync has happened. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    return 'pending';
  };
  return (await Promise.race([promise.catch(() => {}), turns()])) === 'pending';
}
