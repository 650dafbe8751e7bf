/** The workers of a world: one build of them, or, in the course of a deploy, several beside each other. */
import { type ProgramOptions, Supervised } from './supervised.ts';

export interface FleetOptions {
  /** How many there are of each build. */
  size: number;
  /** The name of the Worker Deployment. Absent if the workers are unversioned and keep one build. */
  deploymentName?: string;
  /** `worker` from 0; `buildId` as BUILD_ID has it. */
  programOf(worker: number, buildId: string): ProgramOptions;
}

interface Build {
  buildId: string;
  workers: Supervised[];
}

export class WorkerFleet {
  readonly deploymentName: string | undefined;
  readonly #options: FleetOptions;
  #builds: Build[] = [];
  readonly #everybody: Supervised[] = [];
  #built = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.deploymentName = options.deploymentName;
  }

  /** The workers that run or restart by themselves. Builds alternate, so that a fault may hit each of them. */
  get running(): readonly Supervised[] {
    const inTurn = Array.from({ length: this.#options.size }, (_, nth) => nth);
    return inTurn.flatMap((nth) => this.#builds.flatMap(({ workers }) => workers[nth] ?? []));
  }

  /** The running workers with this number, one of each build. */
  numbered(worker: number): Supervised[] {
    return this.#builds.flatMap(({ workers }) => workers[worker] ?? []);
  }

  /** All workers, also those that were stopped for good. */
  get everybody(): readonly Supervised[] {
    return this.#everybody;
  }

  /** The oldest first. */
  get buildIds(): string[] {
    return this.#builds.map(({ buildId }) => buildId);
  }

  /** Starts workers of the next build beside those that are there. Returns its id. */
  begin(): string {
    this.#built += 1;
    const buildId = String(this.#built);
    const workers = Array.from(
      { length: this.#options.size },
      (_, nth) => new Supervised(this.#options.programOf(nth, buildId)),
    );
    this.#builds.push({ buildId, workers });
    this.#everybody.push(...workers);
    for (const worker of workers) worker.start();
    return buildId;
  }

  /** Stops every other build for good. Resolves with their ids when they have ended. */
  async endOthers(buildId: string): Promise<string[]> {
    const others = this.#builds.filter((build) => build.buildId !== buildId);
    this.#builds = this.#builds.filter((build) => build.buildId === buildId);
    await Promise.all(others.flatMap(({ workers }) => workers.map((worker) => worker.stop())));
    return others.map((build) => build.buildId);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#everybody.map((worker) => worker.stop()));
  }
}
