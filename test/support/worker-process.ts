/** A worker in a process of its own (`credit-journey worker` as it is), which a test stops, kills and freezes. */
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type OwnedChild, startOwnedChild } from '../../src/local/child-process.ts';
import type { Point, PointAnswer, PointQuestion, PointReply } from './worker-points.ts';

export interface Stop {
  /** Resolves when the journey's attempt is at the point. Only the attempt stops there, not the process. */
  reached: Promise<void>;
  release(): void;
}

export interface WorkerProcess {
  /** Stops the journey's next attempt at this point. */
  stopAt(journeyId: string, point: Point): Stop;
  /** Sets the answer to the next arrival at this point, of any journey. */
  once(point: Point, answer: PointAnswer): void;
  /** Sends SIGKILL, like a power cut. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Resolves with the exit code when the process has ended for any reason. */
  ended: Promise<number | null>;
  /** Sends SIGTERM. Resolves with the exit code. */
  terminate(): Promise<number | null>;
  /** Stops and continues the whole process (SIGSTOP, SIGCONT). */
  freeze(): void;
  thaw(): void;
}

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const POINTS = new URL('./worker-points.ts', import.meta.url).href;
/** Allows for a loaded machine; a second or two is usual. */
const READY_WITHIN_MS = 60_000;

interface Armed {
  point: Point;
  /** Default: any journey. */
  journeyId?: string;
  arrive(answer: (answer: PointAnswer) => void): void;
}

/**
 * Resolves when every queue is polled.
 *
 * @param cli of another build; it is not stopped at points
 */
export async function startWorkerProcess(env: NodeJS.ProcessEnv, cli?: string): Promise<WorkerProcess> {
  const program = cli === undefined ? ['--import', POINTS, CLI] : [cli];
  const child = await startOwnedChild(process.execPath, [...program, 'worker'], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const armed = new Set<Armed>();
  child.process.on('message', (question: PointQuestion) => {
    const answer = (what: PointAnswer) => {
      // The process may have ended.
      if (child.process.connected) child.process.send({ id: question.id, answer: what } satisfies PointReply);
    };
    const found = [...armed].find(
      ({ point, journeyId }) =>
        point === question.point && (journeyId === undefined || journeyId === question.journeyId),
    );
    if (!found) return answer('goOn');
    armed.delete(found);
    found.arrive(answer);
  });
  await waitUntilReady(child);
  return {
    stopAt(journeyId, point) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const arrive = (answer: (answer: PointAnswer) => void) => {
        reached.resolve();
        void released.promise.then(() => answer('goOn'));
      };
      armed.add({ point, journeyId, arrive });
      return { reached: reached.promise, release: released.resolve };
    },
    ended: child.ended,
    once: (point, what) => void armed.add({ point, arrive: (answer) => answer(what) }),
    async kill() {
      child.process.kill('SIGKILL');
      await child.ended;
    },
    async terminate() {
      child.process.kill('SIGTERM');
      return child.ended;
    },
    freeze: () => void child.process.kill('SIGSTOP'),
    thaw: () => void child.process.kill('SIGCONT'),
  };
}

async function waitUntilReady(child: OwnedChild): Promise<void> {
  const { stdout, stderr } = child.process;
  if (!stdout || !stderr) throw new Error('the worker has no output');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let lastLines = '';
  for (const stream of [stdout, stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lastLines = `${lastLines}\n${line}`.slice(-2_000);
      if (stream === stdout && line.includes('"ready":true')) resolve();
    });
  }
  const timer = setTimeout(() => {
    child.process.kill('SIGKILL');
    reject(new Error(`the worker was not ready in time:${lastLines}`));
  }, READY_WITHIN_MS);
  void child.ended.then(() => reject(new Error(`the worker ended before it was ready:${lastLines}`)));
  await promise.finally(() => clearTimeout(timer));
}
