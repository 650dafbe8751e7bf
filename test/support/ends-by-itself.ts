/**
 * Loaded before each test process. A process that an open handle keeps alive would otherwise hang the whole run without
 * a message, since node:test waits for the process and its time-out covers only single tests.
 */

/** The limit for all files of a process: four times the slowest. */
const LIMIT_MS = 30 * 60_000;
/** The time after the last test for handles that close in a moment. */
const GRACE_MS = 30_000;

endsWithin(LIMIT_MS, 'is not over');

/** Called by a process that knows that its last test is over. */
export function endsSoon(): void {
  endsWithin(GRACE_MS, 'does not end by itself after its last test');
}

function endsWithin(ms: number, what: string): void {
  setTimeout(() => {
    const [resources, seconds] = [process.getActiveResourcesInfo().join(', '), Math.round(performance.now() / 1_000)];
    console.error(`the test process ${process.argv[1]} ${what}, ${seconds} s after its start; open: ${resources}`);
    process.exit(1);
  }, ms).unref();
}
