/** Times when this process did not run. It learns afterwards what happened meanwhile. */

/** ms since 1970. */
export interface Standstill {
  fromMs: number;
  toMs: number;
}

export interface OwnPace {
  readonly standstills: readonly Standstill[];
  stop(): void;
}

const TICK_MS = 50;
/** Shorter standstills are within the slack of the invariants that compare instants. */
const SHORTEST_MS = 250;

export function watchOwnPace(): OwnPace {
  const standstills: Standstill[] = [];
  let lastMs = Date.now();
  const timer = setInterval(() => {
    const nowMs = Date.now();
    if (nowMs - lastMs > SHORTEST_MS) standstills.push({ fromMs: lastMs, toMs: nowMs });
    lastMs = nowMs;
  }, TICK_MS);
  return { standstills, stop: () => clearInterval(timer) };
}
