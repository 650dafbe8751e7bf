/**
 * Resolves at the first SIGINT or SIGTERM; the second ends the process at once. Taken before a slow start, so that a
 * signal during it is not lost.
 */
export async function waitForStopSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    let isStopping = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(signal === 'SIGINT' ? 130 : 143);
        isStopping = true;
        resolve();
      });
    }
  });
}
