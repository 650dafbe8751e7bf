/** The alert rules as Prometheus itself reads and runs them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const DIRECTORY = join(ROOT, 'deploy', 'prometheus');

interface Rule {
  alert: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook: string };
}

const { groups } = parse(readFileSync(join(DIRECTORY, 'alerts.yml'), 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

function promtool(...args: string[]): void {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { cwd: DIRECTORY, encoding: 'utf8' });
  assert.equal(
    error,
    undefined,
    'promtool is not on PATH: install Prometheus (Debian and Ubuntu: apt-get install prometheus)',
  );
  assert.equal(status, 0, `${stdout}${stderr}`);
}

test('Prometheus takes the rules and the scrape configuration', () => {
  promtool('check', 'config', 'prometheus.yml');
});

test('each alert fires for what it is about, and for nothing less', () => {
  promtool('test', 'rules', 'alerts.test.yml');
  const tested = readFileSync(join(DIRECTORY, 'alerts.test.yml'), 'utf8');
  for (const { alert } of rules) assert.ok(tested.includes(`alertname: ${alert}\n`), `${alert} has no test`);
});

test('each alert says how grave it is and leads to its page of the runbook', () => {
  for (const { alert, labels, annotations } of rules) {
    const page = alert.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=\d)/g, '-').toLowerCase();
    assert.equal(annotations.runbook, `docs/runbook/${page}.md`);
    assert.ok(existsSync(join(ROOT, annotations.runbook)), annotations.runbook);
    assert.ok(['page', 'ticket'].includes(labels.severity) && annotations.summary && annotations.description, alert);
  }
});
