/**
 * A review's files as its workflow asks for them: again until it gets them. While they cannot be reached, it says so.
 */
import { type ActivityFunctionWithOptions, sleep, TimeoutFailure } from '@temporalio/workflow';
import { hasRunOut } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import { type FileActivities, firstTries, triesForAnHour } from './portfolio-stubs.ts';

/**
 * A failure sooner than the pause between two tries means that an operator has bounded the retries. It must not fill
 * the history.
 */
const AT_LEAST_MS = 60_000;

export class ReviewFiles {
  /** Why files cannot be reached, by the activity that asks for them. */
  readonly #away = new Map<keyof FileActivities, string>();
  readonly #onChange: () => void;

  /** @param onChange called when the files cannot be reached, and when they can be again */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Why they cannot be reached, such as `ENOENT`; nothing of where they are. */
  get away(): string | undefined {
    const [code] = this.#away.values();
    return code;
  }

  /** Runs one of the activities for as long as it takes. Throws what no repetition mends, or a cancellation. */
  ask<K extends keyof FileActivities>(
    name: K,
    summary: string,
    args: Parameters<FileActivities[K]>[0],
  ): ReturnType<FileActivities[K]> {
    const once = (stubs: typeof firstTries) => {
      // Of a union of functions the compiler would want arguments that fit every one of them.
      const activity = stubs[name] as unknown as ActivityFunctionWithOptions<(args: unknown) => Promise<unknown>>;
      return activity.executeWithOptions({ summary }, [args]);
    };
    return this.#untilDone(name, once) as ReturnType<FileActivities[K]>;
  }

  async #untilDone<T>(name: keyof FileActivities, once: (stubs: typeof firstTries) => Promise<T>): Promise<T> {
    try {
      for (let round = 0; ; round++) {
        const beganMs = Date.now();
        try {
          return await once(round === 0 ? firstTries : triesForAnHour);
        } catch (error) {
          if (!hasRunOut(error)) throw error;
          this.#away.set(name, codeOf(error));
          this.#onChange();
        }
        if (round > 0 && Date.now() - beganMs < AT_LEAST_MS) {
          await sleep(AT_LEAST_MS, { summary: 'the portfolio’s files cannot be reached: they are tried again' });
        }
      }
    } finally {
      if (this.#away.delete(name)) this.#onChange();
    }
  }
}

function codeOf(error: unknown): string {
  const failure = applicationFailureOf(error);
  const { code } = (failure?.details?.[0] ?? {}) as { code?: unknown };
  if (code === 'PORTFOLIO_DIR') return 'a worker has no PORTFOLIO_DIR';
  if (code === 'ROW') return 'a worker cannot read a row';
  if (typeof code === 'string') return code;
  return (error as { cause?: unknown }).cause instanceof TimeoutFailure ? 'no answer in time' : 'unknown';
}
