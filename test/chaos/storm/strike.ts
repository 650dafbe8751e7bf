/** The steps of a storm. */
import type { Operator } from '../operator.ts';
import type { People } from '../people.ts';
import type { StormStep } from '../plan.ts';
import type { World } from '../world.ts';

export interface Scene {
  world: World;
  people: People;
  operator: Operator;
}

/** Does what the step says, and undoes it where it lasts. `false`: there was nothing that it could strike. */
export type Strike = (step: StormStep, scene: Scene) => Promise<boolean>;
