/** The launcher passes on Ctrl-C, which the terminal has sent to this process as well. */
const SAME_SIGNAL_MS = 1_000;

/** With the exit code that a shell gives to each. SIGHUP: the terminal was closed. */
const STOP_SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Resolves at the first of these signals; one that comes a second later ends the process at once. Taken before a slow
 * start, so that a signal during it is not lost.
 */
export async function waitForStopSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    let firstMs: number | undefined;
    for (const [signal, exitCode] of Object.entries(STOP_SIGNALS)) {
      process.on(signal, () => {
        firstMs ??= performance.now();
        if (performance.now() - firstMs >= SAME_SIGNAL_MS) process.exit(exitCode);
        resolve();
      });
    }
  });
}
