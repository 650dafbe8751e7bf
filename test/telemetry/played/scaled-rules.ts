/**
 * The alert rules with every duration divided by one factor: `for`, ranges, steps of subqueries and offsets. Thresholds
 * stay as they are.
 */
import { parse, stringify } from 'yaml';

export interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
}

interface RuleFile {
  groups: { rules: AlertRule[] }[];
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /(\d+)(ms|[smhd])/g;

export function rulesIn(text: string): AlertRule[] {
  return (parse(text) as RuleFile).groups.flatMap(({ rules }) => rules);
}

/** @param factor by which all of it is quicker */
export function scaledRules(text: string, factor: number): string {
  const file = parse(text) as RuleFile;
  for (const { rules } of file.groups) {
    for (const rule of rules) {
      rule.expr = scaledExpression(rule.expr, factor);
      if (rule.for !== undefined) rule.for = scaledDurations(rule.for, factor);
    }
  }
  return stringify(file);
}

/** Durations stand in brackets and after `offset`. A character class in a label's pattern has no unit. */
export function scaledExpression(expression: string, factor: number): string {
  return expression
    .replace(/\[\d+(?:ms|[smhd])(?::\d+(?:ms|[smhd]))?\]/g, (range) => scaledDurations(range, factor))
    .replace(/\boffset \d\w*/g, (offset) => scaledDurations(offset, factor));
}

function scaledDurations(text: string, factor: number): string {
  return text.replace(DURATION, (_, count: string, unit: string) => {
    return `${Math.max(1, Math.round((Number(count) * (UNIT_MS[unit] ?? 1)) / factor))}ms`;
  });
}
