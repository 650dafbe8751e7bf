/** Prometheus itself reads and runs the alert rules and the dashboard's queries. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

interface Panel {
  id: number;
  targets: { expr: string }[];
}

function promtool(...args: string[]): void {
  const cwd = join(DEPLOY, 'prometheus');
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' });
  assert.equal(error, undefined, 'promtool is not on PATH: apt-get install prometheus');
  assert.equal(status, 0, `${stdout}${stderr}`);
}

test('Prometheus accepts the rules and the scrape configuration', () => {
  promtool('check', 'config', 'prometheus.yml');
});

test('each alert fires under its condition and not below it', () => {
  promtool('test', 'rules', 'alerts.test.yml');
});

test('Prometheus accepts every query of the dashboard', async (t) => {
  const file = join(DEPLOY, 'grafana', 'credit-journey.json');
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: Panel[] };
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-dashboard-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const asRules = panels.flatMap(({ id, targets }) =>
    targets.map(({ expr }, index) => ({
      record: `panel:${id}:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    })),
  );
  const rulesFile = join(directory, 'panels.yml');
  await writeFile(rulesFile, stringify({ groups: [{ name: 'panels', rules: asRules }] }));
  promtool('check', 'rules', rulesFile);
});
