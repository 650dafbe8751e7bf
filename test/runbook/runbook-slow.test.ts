/** The runbook is complete, and its commands work, each against the failure of its page. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { freePorts } from '../../src/local/free-ports.ts';
import { environmentOf } from '../cli/command-stage.ts';
import { type Harness, startHarness, untilStatus } from '../support/journey-harness.ts';
import { holdJourneys } from './held-journeys.ts';
import { type Block, filled, HEADINGS, type Page, pageOf, readPages } from './pages.ts';
import { openShell, type Shell } from './shell.ts';
import { portOf, speaksNoTls, troubledProfiles } from './troubled-profiles.ts';
import { type Subject, type Surroundings, valuesFor, worldOf } from './worlds.ts';

const pages = readPages();
const index = pages.find(({ name }) => name === 'README') ?? assert.fail('the runbook has no README.md');
const others = pages.filter((page) => page !== index);
const names = new Set(others.map(({ name }) => name));

interface AlertRules {
  groups: { rules: { alert?: string; annotations?: Record<string, string> }[] }[];
}

/** The page that each alert rule names, by the alert. */
function pagesOfRules(): [alert: string, page: string][] {
  const file = new URL('../../deploy/prometheus/alerts.yml', import.meta.url);
  const { groups } = parse(readFileSync(file, 'utf8')) as AlertRules;
  return groups
    .flatMap(({ rules }) => rules)
    .filter(({ alert }) => alert !== undefined)
    .map(({ alert = '', annotations = {} }) => [
      alert,
      /runbook\.example\.com\/([a-z0-9-]+)\.md/.exec(Object.values(annotations).join(' '))?.[1] ?? '',
    ]);
}

describe('the runbook', () => {
  test('has a page for every alert, and its index lists no other alerts', () => {
    const rules = pagesOfRules();
    for (const [alert, page] of rules) assert.ok(names.has(page), `${alert} names the page "${page}"`);
    const [, listed = ''] = /\*\*Alerts\*\*:([\s\S]*?)\n\n/.exec(index.text) ?? [];
    const pagesListed = [...listed.matchAll(/\]\(([a-z0-9-]+)\.md\)/g)].map(([, page]) => page);
    assert.deepEqual(pagesListed.sort(), [...new Set(rules.map(([, page]) => page))].sort());
  });

  test('has the same headings on each page: meaning, checks, remedies and what never to do', () => {
    for (const { name, headings, text } of others) {
      assert.deepEqual(headings, HEADINGS, name);
      for (const part of text.split(/^## /m)) assert.ok(part.trim().split('\n').length > 1, `${name}: ${part}`);
    }
  });

  test('has each page in its index, and no broken link', () => {
    for (const name of names) assert.ok(index.text.includes(`(${name}.md)`), `README.md does not link ${name}`);
    for (const { name, text } of pages) {
      for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)/g)) {
        const url = new URL(`../../docs/runbook/${target}`, import.meta.url);
        assert.ok(existsSync(url), `${name} links ${target}`);
      }
    }
  });

  test('has at least one command on every page that the tests run', () => {
    for (const { name, blocks } of pages) {
      assert.ok(
        blocks.some(({ notRunBecause }) => notRunBecause === undefined),
        name,
      );
    }
  });
});

describe('the commands of each page, run against its failure,', { concurrency: 2 }, () => {
  let harness: Harness;
  let shell: Shell;
  let plain: Server;
  let around: Surroundings;
  let env: Record<string, string>;
  let healthAddress: string;
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'credit-journey-runbook-'));
    plain = await speaksNoTls();
    const [healthPort = 0, deadPort = 0] = await freePorts(2);
    healthAddress = `127.0.0.1:${healthPort}`;
    const [deadUrl, plainUrl] = [`http://127.0.0.1:${deadPort}`, `http://127.0.0.1:${portOf(plain)}`];
    const profiles = join(directory, 'profiles.json');
    await writeFile(profiles, JSON.stringify(troubledProfiles({ deadUrl, plainUrl })));
    [harness, shell] = await Promise.all([
      startHarness({ env: { GATEWAY_PROFILES_FILE: profiles, HEALTH_ADDRESS: healthAddress } }),
      openShell(),
    ]);
    const held = await holdJourneys(harness, (type) => decisionsOf(pages, pageOf(type)) + 1);
    around = { harness, held, deadUrl, plainUrl, directory };
    env = environmentOf(harness);
  });
  after(async () => {
    await shell?.close();
    await harness?.close();
    plain?.close();
    await rm(directory, { recursive: true, force: true });
  });

  for (const page of pages) {
    test(`do what ${page.name} says`, async () => {
      const world = await worldOf(page.name, around, decisionsOf([page], page.name));
      const [looked, ...undecided] = world.journeys;
      for (const block of page.blocks) {
        if (block.notRunBecause !== undefined) continue;
        const subject = (isDecision(block) ? undecided.shift() : looked) ?? assert.fail('a journey too few');
        const wrong = block.section === 'What to do' ? {} : world.trouble;
        const own = { ...env, ...world.env, ...wrong };
        const taskQueue = own.TASK_QUEUE ?? '';
        const script = filled(block.script, await valuesFor(subject, around, { taskQueue, healthAddress }));
        const ran = await shell.run(script, own);
        assert.equal(ran.code, block.exits, `${script}\n${ran.stdout}\n${ran.stderr}`);
        if (isDecision(block)) await waitUntilDecided(subject);
      }
    });
  }
});

/** Tells whether the command decides about one journey. Such a decision cannot be repeated. */
function isDecision({ script, notRunBecause }: Block): boolean {
  return notRunBecause === undefined && /credit-journey resolve (<journeyId>|--ledger)/.test(script);
}

function decisionsOf(all: readonly Page[], name: string): number {
  return all.find((page) => page.name === name)?.blocks.filter(isDecision).length ?? 0;
}

/** Waits until the hold is gone. If its cause remains, another hold may follow. */
async function waitUntilDecided({ held }: Subject): Promise<void> {
  if (!held) return;
  await untilStatus(held.handle, ({ holds }) => holds.every(({ since }) => since !== held.hold.since));
}
