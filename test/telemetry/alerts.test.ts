/** The alert rules and the dashboard, as far as they can be checked without Prometheus: `prometheus-slow.test.ts` has the rest. */
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

interface Panel {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
}

const { groups } = parse(readFileSync(join(DIRECTORY, 'alerts.yml'), 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

test('each alert has a test that Prometheus runs', () => {
  const tested = readFileSync(join(DIRECTORY, 'alerts.test.yml'), 'utf8');
  for (const { alert } of rules) assert.ok(tested.includes(`alertname: ${alert}\n`), `${alert} has no test`);
});

test('no two panels of the dashboard are in one place', () => {
  const file = join(ROOT, 'deploy', 'grafana', 'credit-journey.json');
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: Panel[] };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const [index, { title, gridPos: one }] of panels.entries()) {
    for (const { title: otherTitle, gridPos: other } of panels.slice(index + 1)) {
      const isApart =
        one.x + one.w <= other.x ||
        other.x + other.w <= one.x ||
        one.y + one.h <= other.y ||
        other.y + other.h <= one.y;
      assert.ok(isApart, `${title} covers ${otherTitle}`);
    }
  }
});

test('each alert says how grave it is and leads to its page of the runbook', () => {
  for (const { alert, labels, annotations } of rules) {
    const page = alert.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=\d)/g, '-').toLowerCase();
    assert.equal(annotations.runbook_url, `https://runbook.example.com/${page}.md`);
    assert.ok(existsSync(join(ROOT, 'docs/runbook', `${page}.md`)), page);
    assert.ok(['page', 'ticket'].includes(labels.severity) && annotations.summary && annotations.description, alert);
  }
});
