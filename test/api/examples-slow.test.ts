/** Runs the unchanged programs of examples/api against the API behind a network that loses answers. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JourneyResult } from '../../src/messages/journey/shapes.ts';
import { environmentOf } from '../cli/command-stage.ts';
import { applicant, consentMessage, type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { pythonPackages } from '../support/python.ts';
import { type FaultyFront, startFaultyFront } from './faulty-front.ts';
import { startTestApi, type TestApi, token } from './fixtures.ts';

let harness: Harness;
let api: TestApi;
let front: FaultyFront;
let packages: string;
let env: NodeJS.ProcessEnv;

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

before(async () => {
  const pinned = (await readFile(file('examples/api/requirements.txt'), 'utf8')).trim().split('\n');
  [harness, packages] = await Promise.all([startHarness(), pythonPackages(...pinned)]);
  api = await startTestApi(harness);
  front = await startFaultyFront(api.url);
  const tokenFile = join(harness.dataDir, 'token');
  await writeFile(tokenFile, await token({ expiresAt: Math.floor(Date.now() / 1000) + 900 }), { mode: 0o600 });
  env = { ...process.env, PYTHONPATH: packages, API_URL: front.url, API_TOKEN_FILE: tokenFile };
});
after(async () => {
  await front?.close();
  await api?.close();
  await harness?.close();
});

const grant = (journeyId: string) => consentMessage(journeyId, { applicantId: '1A' });

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

function run(command: string, args: string[], more: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: file('.'), env: { ...env, ...more }, timeout: 90_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}

type Message = object & { journeyId: string };

async function put(content: Message): Promise<string> {
  const path = join(harness.dataDir, `${content.journeyId}-${Math.random()}.json`);
  await writeFile(path, JSON.stringify(content));
  return path;
}

/** Creates a PATH with only the programs that the script names, without jq. */
async function pathWithoutJq(): Promise<string> {
  const bin = join(harness.dataDir, 'bin');
  await mkdir(bin);
  for (const name of ['sh', 'mktemp', 'rm', 'cat', 'curl', 'sed', 'sleep', 'echo']) {
    const { stdout } = await run('sh', ['-c', `command -v ${name}`]);
    const found = stdout.trim();
    if (found.startsWith('/')) await symlink(found, join(bin, name));
  }
  return bin;
}

describe('the consent system example', { concurrency: 1 }, () => {
  const shell = file('examples/api/send-consent.sh');
  const programs: [name: string, send: (message: string) => Promise<Ran>][] = [
    ['in Python', (message) => run('python3', [file('examples/api/send_consent.py'), message])],
    ['in the shell', (message) => run('sh', [shell, message])],
    [
      'in the shell without jq',
      (() => {
        let bin: Promise<string> | undefined;
        return async (message) => {
          bin ??= pathWithoutJq();
          return run('/bin/sh', [shell, message], { PATH: await bin });
        };
      })(),
    ],
  ];

  for (const [name, send] of programs) {
    test(`${name}: its consent is accepted once, although earlier answers are lost or garbled`, async () => {
      const input = journeyInput({ stages: ['PREQUAL'], shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
      const handle = await harness.start(input);
      const status = `/v1/journeys/${input.journeyId}`;
      await api.until(status, (json) => json.state === 'waitingForConsent');
      const audited = api.audited().length;
      front.put('POST /v1/consents', 'lost', 'away', 'garbage', 'pending');
      const sent = await send(await put(grant(input.journeyId)));
      assert.deepEqual([sent.code, sent.stdout], [0, 'accepted\n'], sent.stderr);
      const reached = api.audited().slice(audited);
      assert.equal(reached.filter(({ route }) => route === 'POST /v1/consents').length, 2, 'the one that was lost too');
      const { shares } = await handle.result();
      assert.equal(shares[0]?.state, 'posted');
      const posted = await harness.posted(handle);
      assert.equal(posted.filter(({ productCode }) => productCode === 'SECONDUSE').length, 1);
    });

    test(`${name}: its consent is kept for an unknown journey, and refused if its content differs`, async () => {
      const { journeyId } = journeyInput();
      const message = grant(journeyId);
      const first = await send(await put(message));
      assert.deepEqual([first.code, first.stdout], [0, 'kept\n'], first.stderr);
      const again = await send(await put(message));
      assert.deepEqual([again.code, again.stdout], [0, 'kept\n'], again.stderr);
      const other = await send(await put({ ...message, decidedAt: '2026-01-01T00:00:00Z' } as Message));
      assert.equal(other.code, 1, other.stdout);
      assert.match(other.stdout, /^differs: /);
      const misspelt = await send(await put({ ...message, decision: 'maybe' } as Message));
      assert.equal(misspelt.code, 1);
      assert.match(misspelt.stdout, /^invalidInput: .*\/decision\b.*must be one of granted/);
      const missing = await send(join(harness.dataDir, 'no-such-file.json'));
      assert.deepEqual([missing.code === 0, missing.stdout], [false, '']);
      assert.match(missing.stderr, /no-such-file\.json/);
    });
  }
});

describe('the origination platform example with a generated client', { concurrency: 1 }, () => {
  let generated: string;

  test('the generator expresses the whole API document, and every generated module can be loaded', async () => {
    generated = join(harness.dataDir, 'generated');
    await mkdir(generated);
    const options = ['--path', file('schemas/api.openapi.json'), '--output-path', join(generated, 'credit_journey')];
    const config = ['--meta', 'none', '--config', file('examples/api/openapi-python-client.yml')];
    const made = await run('python3', ['-m', 'openapi_python_client', 'generate', ...options, ...config]);
    assert.equal(made.code, 0, made.stderr);
    assert.doesNotMatch(made.stdout + made.stderr, /warning|unable|error/i);
    const load = [
      'import credit_journey, importlib, pkgutil',
      'for module in pkgutil.walk_packages(credit_journey.__path__, "credit_journey."): importlib.import_module(module.name)',
      // The generated types must keep these forms, and not accept any value as a share.
      'from credit_journey.models import Share, ComparedStage, ExtendJourney',
      'print(Share(share_id="S1", end_user_code="EU999").to_dict())',
    ];
    const loaded = await run('python3', ['-c', load.join('\n')], { PYTHONPATH: `${generated}:${packages}` });
    assert.equal(loaded.stdout, "{'shareId': 'S1', 'endUserCode': 'EU999'}\n", loaded.stderr);
  });

  const originate = async (journey: Message) =>
    run('python3', [file('examples/api/originate.py'), await put(journey)], { PYTHONPATH: `${generated}:${packages}` });

  test('starts one journey, passes its gate and reads its result, although answers are lost', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], applicants: [applicant('1A')] });
    const { journeyId } = input;
    front.put('POST /v1/journeys', 'lost', 'away');
    front.put(`GET /v1/journeys/${journeyId}`, 'garbage', 'lost');
    front.put(`POST /v1/journeys/${journeyId}/advance`, 'away', 'lost');
    const before = front.seen.length;
    const ran = await originate(input);
    assert.equal(ran.code, 0, ran.stderr);
    const result = JSON.parse(ran.stdout) as JourneyResult;
    assert.deepEqual([result.journeyId, result.outcome], [journeyId, 'completed']);
    assert.deepEqual(
      result.stages.map(({ state, attempts }) => [state, attempts]),
      [
        ['record', 1],
        ['record', 1],
      ],
    );
    const asked = front.seen.slice(before).filter((line) => line === `GET /v1/journeys/${journeyId}`);
    assert.ok(asked.length <= 12, `it asked ${asked.length} times: that is no long polling`);

    const again = await originate(input);
    assert.deepEqual([again.code, again.stdout], [0, ran.stdout], 'run again it reads the same result');
  });

  test('reports which fields differ from the first application, and starts no second journey', async () => {
    const input = journeyInput({ stages: ['PREQUAL'] });
    const first = await originate({ ...input });
    assert.equal(first.code, 0, first.stderr);
    const changed = {
      ...input,
      applicants: input.applicants.map((one) => ({ ...one, emailAddress: 'other@example.com' })),
    };
    const second = await originate(changed);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /^differs at \/applicants\/0\/emailAddress\n.*differs/s);
  });
});

describe('the first programs of docs/first-program.md', { concurrency: 1 }, () => {
  test('the program with the typed client runs twice', async () => {
    const program = join(harness.dataDir, 'first-program.ts');
    const source = await readFile(file('examples/typescript/first-program.ts'), 'utf8');
    // The program imports the source, since the package would have to be built first.
    await symlink(file('node_modules'), join(harness.dataDir, 'node_modules'));
    await writeFile(program, source.replace("'credit-journey'", `'${file('src/client.ts')}'`));
    const own = { ...environmentOf(harness), API_URL: api.url };
    const first = await run(process.execPath, [program], own);
    assert.match(first.stdout, /^started\nreport [A-Z0-9]{28} (masked|whole)\n/, first.stderr);
    const second = await run(process.execPath, [program], own);
    for (const { code, stdout, stderr } of [first, second]) {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /passed before\nrefused differs\n$/);
    }
    assert.match(second.stdout, /^known\n/);
  });

  test('the program with curl runs twice', async () => {
    const own = { API_URL: api.url };
    const [first, second] = [
      await run('sh', [file('examples/api/first-program.sh')], own),
      await run('sh', [file('examples/api/first-program.sh')], own),
    ];
    for (const { code, stdout, stderr } of [first, second]) {
      assert.equal(code, 0, stderr);
      assert.match(
        stdout,
        /"productCode":"PREQUAL".*\n.*"accepted":true.*\n.*"duplicate":true.*\n.*"accepted":true.*\n.*"code":"differs"/,
      );
    }
    assert.match(first.stdout, /"isNew":true/);
    assert.match(second.stdout, /"isNew":false/);
  });
});
