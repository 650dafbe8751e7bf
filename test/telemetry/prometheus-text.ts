/** Reads what Prometheus scrapes, and which metrics an expression names. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export function samplesIn(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [
        label,
        text,
      ]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });
}

/** The sample of this name whose labels hold these. */
export function figureOf(
  samples: readonly Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  return samples.find(
    (sample) => sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  )?.value;
}

/** Metrics of the worker's; `up` is Prometheus' own. */
export function metricsIn(expression: string): string[] {
  return expression.match(/\b(?:credit_journey|temporal)_\w+/g) ?? [];
}
