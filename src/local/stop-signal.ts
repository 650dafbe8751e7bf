/** The launcher passes on Ctrl-C, which the terminal has sent to this process as well. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Resolves at the first SIGINT or SIGTERM; one that comes a second later ends the process at once. Taken before a slow
 * start, so that a signal during it is not lost.
 */
export async function waitForStopSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    let firstMs: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        firstMs ??= performance.now();
        if (performance.now() - firstMs >= SAME_SIGNAL_MS) process.exit(signal === 'SIGINT' ? 130 : 143);
        resolve();
      });
    }
  });
}
