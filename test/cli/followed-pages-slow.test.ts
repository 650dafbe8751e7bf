/** Runs the commands of README, docs/README.md and docs/integrating.md in order, as a reader of all three types them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findTemporalBinary } from '../../src/local/temporal/temporal-binaries.ts';
import { type Block, partsOf } from '../runbook/pages.ts';
import { until } from '../support/process-world.ts';
import { WAIT_LIMIT_MS } from '../support/until-query.ts';
import { bareEnvironment, type Ran } from './run-cli.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const PAGES = ['README.md', 'docs/README.md', 'docs/integrating.md'];

/** The output that the pages promise for each command. The keys are lines of the blocks, without their comments. */
const PROMISES: Record<string, RegExp> = {
  'npm run demo': /PRECLOSE +held[\s\S]+S-1 +posted[\s\S]+The run: /,
  'npx credit-journey dev': /^ready$[\s\S]+^Ctrl-C stops it/m,
  'sh examples/api/first-program.sh': /"isNew":true[\s\S]+"code":"differs"/,
  'npx credit-journey start --sample --journey-id LOAN-1': /"journeyId": "LOAN-1"/,
  'npx credit-journey watch LOAN-1': /"state":"waitingAtGate"/,
  'npx credit-journey status LOAN-1': /"journeyId": "LOAN-1"/,
  'npx credit-journey watch LOAN-2': /"state":"posted".*\s*$/,
  'npx credit-journey watch LOAN-3': /"failureType":"OutcomeUnknown"/,
  'npx credit-journey holds': /"runKey": "LOAN-3"/,
  'npx credit-journey status LOAN-3': /"journeyId": "LOAN-3"/,
  'npx credit-journey pause --by ops --reason "ticket 4711: wrong purpose codes"': /"inFlight": 0/,
  'npx credit-journey resume --by ops --reason "ticket 4711: corrected"': /"ended": \{/,
  'npx credit-journey doctor': /"healthy": true/,
  'npx credit-journey inquiries --totals': /"productCode":"SECONDUSE"/,
  'npx credit-journey shares': /"runKey":"LOAN-2"/,
  'npx credit-journey audit verify': /"findings": \[\]/,
  'python examples/python/run_journey.py examples/journey.json examples/consent.json':
    /"answer": [\s\S]+"outcome": "completed"/,
  'npx credit-journey status LOAN-4': /"state": "completed"/,
  'sh examples/api/send-consent.sh examples/consent.json': /^accepted$/m,
};

test('the commands of README, docs/README.md and docs/integrating.md work one after the other in a fresh clone', async (t) => {
  const terminal = await openTerminal(t, await emptyClone(t));
  const kept = new Set(Object.keys(PROMISES));
  for (const page of PAGES) {
    const { blocks } = partsOf(page, await readFile(join(ROOT, page), 'utf8'));
    for (const block of blocks.filter(({ notRunBecause }) => notRunBecause === undefined)) {
      const promised = promisesOf(block);
      for (const [line] of promised) kept.delete(line);
      const patterns = promised.map(([, pattern]) => pattern);
      const said = block.stays
        ? await terminal.stay(block.script, patterns)
        : await terminal.run(block.script, block.exits);
      for (const pattern of patterns) assert.match(said, pattern);
    }
  }
  assert.deepEqual([...kept], [], 'no page has these commands any more');
});

function promisesOf({ script }: Block): [string, RegExp][] {
  return Object.entries(PROMISES).filter(([line]) => script.split('\n').includes(line));
}

/** Copies the repository's files to a new directory, where nothing has run yet. */
async function emptyClone(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-clone-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  for (const name of await readdir(ROOT)) {
    if (!['.git', '.credit-journey', '.venv'].includes(name)) await symlink(join(ROOT, name), join(directory, name));
  }
  return directory;
}

interface Terminal {
  /** All that the shell prints, on both streams. */
  run(script: string, exits?: number): Promise<string>;
  /** Resolves when its output has at least one line and matches all patterns. */
  stay(script: string, patterns: readonly RegExp[]): Promise<string>;
}

/** Opens one bash. Programs that still run get Ctrl-C when the test ends, the latest first. */
async function openTerminal(t: TestContext, directory: string): Promise<Terminal> {
  const temporal = await findTemporalBinary();
  const env = { ...readersEnvironment(), PATH: `${dirname(temporal)}:${process.env.PATH}`, NO_COLOR: '1' };
  const bash = spawn('bash', ['--noprofile', '--norc'], { cwd: directory, env, stdio: 'pipe' });
  const staying: number[] = [];
  const run = async (script: string, exits = 0): Promise<string> => {
    if (exits === 0) return expectEnd(script, 0, await typed(bash, `set -e\n${script}`));
    // A hold is listed a moment after the run's status shows it.
    const endsAt = performance.now() + WAIT_LIMIT_MS;
    for (;;) {
      const ran = await typed(bash, `set +e\n${script}`);
      if (ran.code === exits || performance.now() > endsAt) return expectEnd(script, exits, ran);
    }
  };
  t.after(async () => {
    for (const group of staying.toReversed()) {
      if (isAlive(group)) process.kill(-group, 'SIGINT');
      await until(`process ${group} has ended`, async () => !isAlive(group));
    }
    bash.kill();
  });
  return {
    run,
    async stay(script, patterns) {
      const log = `terminal-${staying.length + 2}.log`;
      // The child opens the file, and the shell may answer before that.
      await run(`: >${log}`);
      // Job control gives it a process group of its own, as its own terminal would.
      const started = await run(`set -m\n{ ${script.trim()}\n} >${log} 2>&1 &\nset +m\necho "process $!"`);
      const group = Number(/^process (\d+)$/m.exec(started)?.[1] ?? assert.fail(started));
      staying.push(group);
      const said = () => readFile(join(directory, log), 'utf8');
      await until(`${script.trim()} has said what it should`, async () => {
        const text = await said();
        if (!isAlive(group)) assert.fail(`${script.trim()} has ended\n${text}`);
        return text.includes('\n') && patterns.every((pattern) => pattern.test(text));
      });
      return said();
    },
  };
}

function expectEnd(script: string, exits: number, { code, stdout }: Pick<Ran, 'code' | 'stdout'>): string {
  assert.equal(code, exits, `${script}\n${stdout}`);
  return stdout;
}

/** Returns whether a process of the group still runs. */
function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

/** Returns the environment without npm's variables and without settings of this project. */
function readersEnvironment(): Record<string, string | undefined> {
  const ours = /^(npm_|INIT_CWD$|NODE_ENV$|CODEC_SERVER_|PAYLOAD_|TEST_|WORKFLOW_|PORTFOLIO_)/;
  return Object.fromEntries(Object.entries(bareEnvironment()).filter(([name]) => !ours.test(name)));
}

/** Runs a script in the shell itself, so that its variables stay. If the script fails, the shell ends with its code. */
async function typed(bash: ChildProcess, script: string): Promise<Pick<Ran, 'code' | 'stdout'>> {
  const { stdin, stdout } = bash;
  assert.ok(stdin && stdout);
  const mark = `done-${randomUUID()}`;
  const ended = new AbortController();
  let said = '';
  const answered = new Promise<number>((resolve) => {
    stdout.setEncoding('utf8').on('data', function read(chunk: string) {
      said += chunk;
      const [, code] = new RegExp(`^${mark} (\\d+)$`, 'm').exec(said) ?? [];
      if (code === undefined) return;
      stdout.off('data', read);
      resolve(Number(code));
    });
  });
  const exited = once(bash, 'close', ended).then(([code]) => code as number | null);
  exited.catch(() => {});
  stdin.write(`{ ${script}\n} </dev/null 2>&1\nprintf '\\n${mark} %s\\n' $?\n`);
  const code = await Promise.race([answered, exited]);
  ended.abort();
  return { code, stdout: said.split(`\n${mark} `)[0] ?? '' };
}
