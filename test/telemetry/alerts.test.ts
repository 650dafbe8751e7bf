/** The alert rules, as far as they can be checked without Prometheus: `prometheus-slow.test.ts` has the rest. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const DIRECTORY = join(ROOT, 'deploy', 'prometheus');

interface Rule {
  alert: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

const { groups } = parse(readFileSync(join(DIRECTORY, 'alerts.yml'), 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

test('each alert has a test that Prometheus runs', () => {
  const tested = readFileSync(join(DIRECTORY, 'alerts.test.yml'), 'utf8');
  for (const { alert } of rules) assert.ok(tested.includes(`alertname: ${alert}\n`), `${alert} has no test`);
});

test('each alert has a severity and links its page of the runbook', () => {
  for (const { alert, labels, annotations } of rules) {
    const page = alert.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=\d)/g, '-').toLowerCase();
    assert.equal(annotations.runbook_url, `https://runbook.example.com/${page}.md`);
    assert.ok(existsSync(join(ROOT, 'docs/runbook', `${page}.md`)), page);
    assert.ok(['page', 'ticket'].includes(labels.severity) && annotations.summary && annotations.description, alert);
  }
});
