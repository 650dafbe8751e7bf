/** Runs files of end-to-end tests once more, with a sandbox whose answers have exactly the interface's shape. */
import { after, before, describe } from 'node:test';

/**
 * To be called at the top of a test file, and awaited. What only the sandbox's usual answers carry may not be what the
 * tests of these files rely on.
 *
 * @param files names in test/workflows, without `.test.ts`
 */
export async function inInterfaceShape(files: readonly string[]): Promise<void> {
  before(() => {
    process.env.SANDBOX_SHAPE = 'interface';
  });
  after(() => {
    delete process.env.SANDBOX_SHAPE;
  });
  for (const file of files) {
    // Awaited, so that a file's tests and hooks are its own suite's. The query makes it another module: this process
    // may have run the file already.
    await describe(`${file}, in the interface's shape`, () => import(`../workflows/${file}.test.ts?shape=interface`));
  }
}
