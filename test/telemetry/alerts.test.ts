/** The alert rules and the dashboard, as far as they can be checked without Prometheus: `prometheus-slow.test.ts` has the rest. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { scaledRules } from './played/scaled-rules.ts';

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

test('each alert is played: it fires for a cause, and clears', () => {
  const played = readFileSync(join(import.meta.dirname, 'played-alerts-slow.test.ts'), 'utf8');
  for (const { alert } of rules) {
    assert.ok(played.includes(`untilFiring('${alert}'`), `${alert} is never seen firing`);
    assert.ok(played.includes(`untilClear('${alert}'`), `${alert} is never seen clear`);
  }
});

test('a scene is quicker by all durations of a rule, and by nothing else', () => {
  const rule = (expr: string, of: string) => ({ groups: [{ name: 'one', rules: [{ alert: 'One', expr, for: of }] }] });
  const text = stringify(rule('min_over_time(max(a{b=~"[1-9]m",c="5m"})[15m:1m]) > 900 or a offset 1h > 3', '5m'));
  const scaled = rule(
    'min_over_time(max(a{b=~"[1-9]m",c="5m"})[30000ms:2000ms]) > 900 or a offset 120000ms > 3',
    '10000ms',
  );
  assert.deepEqual(parse(scaledRules(text, 30)), scaled);
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
