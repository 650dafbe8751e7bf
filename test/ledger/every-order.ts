/** Walks breadth first through every world that can be reached from the first one, until it finds a violation. */

/** A possible next step: its name, the world that it leads to, and what that world violates. */
export type Emit<World> = (label: string, world: World, violation?: string) => void;

export interface Walked {
  states: number;
  counterexample?: { violation: string; trace: string[] };
}

export function walkEveryOrder<World>(
  first: World,
  tellWhatMayHappen: (world: World, emit: Emit<World>) => void,
): Walked {
  const seen = new Set([JSON.stringify(first)]);
  let frontier: { world: World; trace: string[] }[] = [{ world: first, trace: [] }];
  let counterexample: Walked['counterexample'];
  while (frontier.length > 0 && !counterexample) {
    const next: typeof frontier = [];
    for (const { world, trace } of frontier) {
      tellWhatMayHappen(world, (label, reached, violation) => {
        if (violation) counterexample ??= { violation, trace: [...trace, label] };
        const key = JSON.stringify(reached);
        if (seen.has(key)) return;
        seen.add(key);
        next.push({ world: reached, trace: [...trace, label] });
      });
    }
    frontier = next;
  }
  return { states: seen.size, ...(counterexample ? { counterexample } : {}) };
}
