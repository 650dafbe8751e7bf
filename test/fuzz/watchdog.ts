/** Ends the process when one case hangs. It runs in its own thread, since an endless loop blocks the main one. */
import { Worker } from 'node:worker_threads';

/** A case takes milliseconds; a machine that is busy with other things may take a few seconds. */
const HUNG_AFTER_MS = 60_000;

/** Bytes of what is said of the case. */
const TEXT_BYTES = 512;

const WATCH = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const beats = new Int32Array(workerData.shared, 0, 2);
const text = new Uint8Array(workerData.shared, 8);
for (;;) {
  const last = Atomics.load(beats, 0);
  if (Atomics.load(beats, 1) === 1) break;
  if (Atomics.wait(beats, 0, last, workerData.hungAfterMs) === 'timed-out' && last > 0) {
    const end = text.indexOf(0);
    writeSync(2, 'a case hangs: ' + Buffer.from(text.subarray(0, end < 0 ? undefined : end)).toString('utf8') + '\\n');
    process.kill(process.pid, 'SIGKILL');
  }
}
`;

export class Watchdog {
  readonly #shared = new SharedArrayBuffer(8 + TEXT_BYTES);
  readonly #beats = new Int32Array(this.#shared, 0, 2);
  readonly #text = new Uint8Array(this.#shared, 8);
  readonly #worker = new Worker(WATCH, {
    eval: true,
    workerData: { shared: this.#shared, hungAfterMs: HUNG_AFTER_MS },
  });

  constructor() {
    this.#worker.unref();
  }

  /** Another case begins; `repeat` says how to run it again. */
  beat(repeat: string): void {
    this.#text.fill(0);
    new TextEncoder().encodeInto(repeat, this.#text);
    Atomics.add(this.#beats, 0, 1);
    Atomics.notify(this.#beats, 0);
  }

  async stop(): Promise<void> {
    Atomics.store(this.#beats, 1, 1);
    this.beat('');
    await this.#worker.terminate();
  }
}
