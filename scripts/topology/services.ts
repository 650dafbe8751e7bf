/**
 * Runs the services of docker-compose.yml as plain processes: its own scripts, command lines and variables, with other
 * ports and paths.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type OwnedChild, startOwnedChild } from '../../src/local/child-process.ts';
import { compose } from '../../test/deploy/manifests.ts';
import { lastLine, runCommand } from '../run-command.ts';

const ROOT = join(import.meta.dirname, '../..');
const JOB_TIMEOUT_MS = 3 * 60_000;
const READY_TIMEOUT_MS = 2 * 60_000;
const STOP_GRACE_MS = 30_000;

export interface Machine {
  /** The local address for each address of the compose file: `temporal:7233` and the like. */
  addresses: Readonly<Record<string, string>>;
  secretsDir: string;
  logDir: string;
  /** The image's `/app`. */
  app: string;
  /** Directories of programs that come from other images. */
  programs: readonly string[];
}

export class Services {
  readonly #machine: Machine;
  readonly #running = new Set<OwnedChild>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** The environment of the service's process. */
  environment(name: string, own: Readonly<Record<string, string>> = {}): Record<string, string> {
    const given = Object.entries(compose().services[name]?.environment ?? {});
    const here = given.map(([key, value]) => [key, this.#here(value.replace(/^\$\{\w+:-(.*)\}$/, '$1'))]);
    return {
      PATH: [...this.#machine.programs, process.env.PATH].join(':'),
      HOME: this.#machine.logDir,
      SECRETS_DIR: this.#machine.secretsDir,
      ...Object.fromEntries(here),
      ...own,
    };
  }

  /** Runs a service that ends, and returns its output. */
  async job(name: string, own: Readonly<Record<string, string>> = {}, args?: readonly string[]): Promise<string> {
    const [command = '', ...rest] = this.#commandLine(name, args);
    const env = this.environment(name, own);
    const result = await runCommand(command, rest, { env, timeoutMs: JOB_TIMEOUT_MS, cwd: this.#machine.logDir });
    if (result.exitCode === 0) return result.stdout;
    throw new Error(`${name} ended with ${result.exitCode}: ${lastLine(result.stderr)} ${lastLine(result.stdout)}`);
  }

  /** Starts a service; `own` has the variables that differ between two of a kind. */
  async start(name: string, own: Readonly<Record<string, string>> = {}, args?: readonly string[]): Promise<OwnedChild> {
    const [command = '', ...rest] = this.#commandLine(name, args);
    const env = this.environment(name, own);
    const child = await startOwnedChild(command, rest, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: this.#machine.logDir,
    });
    const log = createWriteStream(join(this.#machine.logDir, `${name}.log`), { flags: 'a' });
    child.process.stdout?.pipe(log, { end: false });
    child.process.stderr?.pipe(log, { end: false });
    this.#running.add(child);
    void child.ended.then(() => this.#running.delete(child));
    return child;
  }

  /** Waits for the image's own health check. */
  async untilHealthy(what: string, url: string, child: OwnedChild): Promise<void> {
    const isOver = child.ended.then(() => true);
    const endsAt = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      const check = [join(this.#machine.app, 'deploy/health-check.js'), url];
      const { exitCode } = await runCommand(process.execPath, check, { env: process.env, timeoutMs: 10_000 });
      if (exitCode === 0) return;
      if (await Promise.race([isOver, delay(500, false)])) throw new Error(`${what} has ended: see its log`);
      if (performance.now() > endsAt) throw new Error(`${what} did not become healthy: see its log`);
    }
  }

  /** Stops every running service, the last started first. */
  async stop(): Promise<void> {
    for (const child of [...this.#running].reverse()) await child.stop(STOP_GRACE_MS);
  }

  #commandLine(name: string, args?: readonly string[]): string[] {
    const service = compose().services[name];
    if (!service) throw new Error(`docker-compose.yml has no service ${name}`);
    const words = [...(service.entrypoint ?? this.#entrypoint(service.image)), ...(args ?? service.command ?? [])];
    const scripts = Object.fromEntries(
      (service.volumes ?? []).filter((one) => one.startsWith('./')).map((one) => one.split(':').slice(0, 2).reverse()),
    ) as Record<string, string>;
    return words.map((word) => {
      const mounted = scripts[word];
      if (mounted !== undefined) return join(ROOT, mounted);
      return word === '/etc/temporal/entrypoint.sh' ? 'temporal-server' : word;
    });
  }

  #entrypoint(image: string): string[] {
    if (!image.startsWith('credit-journey')) return [];
    return [process.execPath, join(this.#machine.app, 'bin/credit-journey.js')];
  }

  /** Longer names first: one name may be the end of another. */
  #here(value: string): string {
    const { addresses, secretsDir } = this.#machine;
    let text = value
      .replaceAll('/run/secrets/', `${secretsDir}/`)
      .replaceAll('/run/keys/', `${secretsDir}/keys/`)
      .replaceAll('/deploy/dynamicconfig.yaml', join(ROOT, 'deploy/temporal/dynamicconfig.yaml'));
    for (const there of Object.keys(addresses).toSorted((a, b) => b.length - a.length)) {
      text = text.replaceAll(there, addresses[there] as string);
    }
    return text;
  }
}
