/** A finding of one part of the overload bench, and how it is printed. */

export interface Finding {
  what: string;
  figure: string;
  /** The bound that the value must keep, where there is one. */
  bound?: string;
  isMet?: boolean;
}

export interface Part {
  title: string;
  /** A description of the run, in words. */
  run: string;
  findings: Finding[];
}

export function bounded(what: string, value: number, most: number, unit = ''): Finding {
  return { what, figure: figure(value, unit), bound: `at most ${figure(most, unit)}`, isMet: value <= most };
}

export function exactly(what: string, value: number, expected: number): Finding {
  return { what, figure: String(value), bound: String(expected), isMet: value === expected };
}

export function plain(what: string, value: number, unit = ''): Finding {
  return { what, figure: figure(value, unit) };
}

export function figure(value: number, unit = ''): string {
  const text =
    Math.abs(value) >= 100 || Number.isInteger(value)
      ? String(Math.round(value))
      : value.toFixed(Math.abs(value) < 1 ? 3 : 1);
  return unit === '' ? text : `${text} ${unit}`;
}

export function isGood(parts: readonly Part[]): boolean {
  return parts.every(({ findings }) => findings.every(({ isMet }) => isMet !== false));
}

export function table(parts: readonly Part[]): string {
  const all = parts.flatMap(({ findings }) => findings);
  const widths = [Math.max(...all.map(({ what }) => what.length)), Math.max(...all.map((one) => one.figure.length))];
  return parts
    .map(({ title, run, findings }) =>
      [
        `${title}: ${run}`,
        ...findings.map(({ what, figure: value, bound, isMet }) => {
          const verdict = bound === undefined ? '' : `${bound}: ${isMet ? 'met' : 'MISSED'}`;
          return `  ${what.padEnd(widths[0] ?? 0)}  ${value.padStart(widths[1] ?? 0)}  ${verdict}`.trimEnd();
        }),
      ].join('\n'),
    )
    .join('\n\n');
}
