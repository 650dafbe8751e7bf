/** Shared by tests of the command line: a harness, a shell whose commands find it, and functions that read answers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { openShell, type Shell } from '../runbook/shell.ts';
import { type Harness, type HarnessOptions, startHarness } from '../support/journey-harness.ts';
import { type Ran, runCli } from './run-cli.ts';

export interface CommandStage {
  harness: Harness;
  /** Loads the command line once, since loading takes most of a command's time. */
  shell: Shell;
  /** The environment from `environmentOf`. */
  env: Record<string, string>;
  cli(...args: string[]): Promise<Ran>;
  /** The one document of a command that ends with exit code 0. */
  done(...args: string[]): Promise<ReturnType<typeof JSON.parse>>;
  /** Repeats a line, since a report or a hold appears a moment after its journey has started. */
  eventually(command: string): Promise<Ran>;
  close(): Promise<void>;
}

export async function openCommandStage(options: HarnessOptions = {}): Promise<CommandStage> {
  const [harness, shell] = await Promise.all([startHarness(options), openShell()]);
  const env = environmentOf(harness);
  const cli = (...args: string[]) => runCli(args, { env, cwd: harness.dataDir });
  return {
    harness,
    shell,
    env,
    cli,
    async done(...args) {
      const ran = await cli(...args);
      assert.equal(ran.code, 0, ran.stderr);
      return JSON.parse(ran.stdout);
    },
    async eventually(command) {
      for (let tries = 1; ; tries++) {
        const ran = await shell.run(command, env);
        if (!/^credit-journey (?:report|changes|references|resolve) /.test(command) || ran.code === 0 || tries === 40)
          return ran;
        await delay(250);
      }
    },
    async close() {
      await shell.close();
      await harness.close();
    },
  };
}

/** Creates a ledger in its own directory, which the test fills, and commands that find it but no Temporal server. */
export async function openLedgerStage(fill: (ledger: Ledger) => Promise<unknown>) {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-ledger-'));
  const env = {
    LEDGER_URL: `file:${join(directory, 'ledger.db')}`,
    KEY_RING_FILE: join(directory, 'keys.json'),
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
  const keyRing = await createKeyRing(env.KEY_RING_FILE);
  const ledger = await openLedger({ url: env.LEDGER_URL, environment: 'sandbox', keyRing, create: true });
  await fill(ledger);
  await ledger.close();
  const cli = (...args: string[]) => runCli(args, { env });
  return {
    directory,
    env,
    cli,
    /** The one document of a command that ends with exit code 0. */
    async done(...args: string[]): Promise<ReturnType<typeof JSON.parse>> {
      const { code, stdout, stderr } = await cli(...args);
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout);
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

export type LedgerStage = Awaited<ReturnType<typeof openLedgerStage>>;

/** Returns the environment in which a command finds the harness. */
export function environmentOf({ config, sandboxUrl }: Pick<Harness, 'config' | 'sandboxUrl'>): Record<string, string> {
  const { temporal, taskQueue, ledger, keyRingFile } = config;
  return {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    TASK_QUEUE: taskQueue,
    LEDGER_URL: ledger.url,
    KEY_RING_FILE: keyRingFile,
    PAYLOAD_ENCRYPTION: 'off',
    GATEWAY_AUTH_URL: sandboxUrl,
    GATEWAY_BASE_URL: sandboxUrl,
  };
}

/** Replaces the ids of an example with ids that are unique to this run. */
export function withOwnIds(script: string): string {
  const id = randomUUID().slice(0, 8);
  return script.replaceAll(/\b(?:[JP]-|LOAN-|S-(?=\d{4}))\d+/g, (shown) => `${shown}-${id}`);
}

/** Parses one document, or one document on each line. */
export function documentsOf<T>(stdout: string): T[] {
  const documents = stdout.startsWith('{\n') ? [stdout] : stdout.trim().split('\n');
  return documents.map((document) => JSON.parse(document) as T);
}
