/** Prometheus itself, on loopback, with our scrape jobs and our rules; what it says of alerts and of expressions. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { startOwnedChild } from '../../../src/local/child-process.ts';
import { freePorts } from '../../../src/local/free-ports.ts';
import { until } from '../../support/process-world.ts';
import { scaledRules } from './scaled-rules.ts';

const DIRECTORY = join(import.meta.dirname, '..', '..', '..', 'deploy', 'prometheus');

export interface Alert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: 'pending' | 'firing';
}

type Labels = Record<string, string>;

export interface Series {
  metric: Labels;
  values: [atSeconds: number, value: string][];
}

export interface RunningPrometheus {
  firing(alert: string, labels?: Labels): Promise<Alert[]>;
  /** Resolves with the first that fires. */
  untilFiring(alert: string, labels?: Labels): Promise<Alert>;
  untilClear(alert: string, labels?: Labels): Promise<void>;
  /** At this moment: the value of each series. */
  ask(expression: string): Promise<{ metric: Labels; value: number }[]>;
  /** Each series that had samples since Prometheus began. */
  sinceStart(expression: string): Promise<Series[]>;
  /** Each alert that has fired so far, with its labels. */
  seen(): Promise<Labels[]>;
  close(): Promise<void>;
}

interface PrometheusOptions {
  /** Its data and files. */
  directory: string;
  /** By how much rules and look-back are quicker than ours. */
  factor: number;
  /** Host and port of what each job scrapes; a job of ours without any is an error. */
  targets: Record<string, string[]>;
}

/** Prometheus' own look-back. */
const LOOKBACK_MS = 300_000;
const EVERY = '500ms';

export async function startPrometheus({ directory, factor, targets }: PrometheusOptions): Promise<RunningPrometheus> {
  const [port = 0] = await freePorts(1);
  const ours = parse(await readFile(join(DIRECTORY, 'prometheus.yml'), 'utf8'));
  const jobs = (ours.scrape_configs as { job_name: string }[]).map(({ job_name }) => job_name);
  for (const job of jobs) assert.ok(targets[job], `${job} has no target here`);
  await writeFile(
    join(directory, 'alerts.yml'),
    scaledRules(await readFile(join(DIRECTORY, 'alerts.yml'), 'utf8'), factor),
  );
  const configuration = {
    global: { scrape_interval: EVERY, evaluation_interval: EVERY },
    rule_files: ours.rule_files,
    scrape_configs: Object.entries(targets).map(([job_name, of]) => ({ job_name, static_configs: [{ targets: of }] })),
  };
  await writeFile(join(directory, 'prometheus.yml'), stringify(configuration));
  const startedAt = Date.now() / 1_000;
  const child = await startOwnedChild(
    'prometheus',
    [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--query.lookback-delta=${Math.round(LOOKBACK_MS / factor)}ms`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const url = `http://127.0.0.1:${port}`;
  await until('Prometheus is ready', () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const get = async <T>(path: string, parameters: Record<string, string> = {}): Promise<T> => {
    const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
    assert.equal(status, 'success', `${JSON.stringify(parameters)}: ${error}`);
    return data;
  };
  const sinceStart = async (expression: string) => {
    const end = Date.now() / 1_000;
    const range = { query: expression, start: String(startedAt), end: String(end), step: '0.5' };
    return (await get<{ result: Series[] }>('query_range', range)).result;
  };
  const firing: RunningPrometheus['firing'] = async (alert, labels = {}) => {
    const { alerts } = await get<{ alerts: Alert[] }>('alerts');
    const wanted = Object.entries({ alertname: alert, ...labels });
    return alerts.filter(
      (one) => one.state === 'firing' && wanted.every(([label, value]) => one.labels[label] === value),
    );
  };
  return {
    firing,
    async untilFiring(alert, labels) {
      let found: Alert | undefined;
      const what = `${alert} ${JSON.stringify(labels ?? {})}`;
      await until(`${what} fires`, async () => {
        [found] = await firing(alert, labels);
        return found !== undefined;
      });
      return found ?? assert.fail();
    },
    untilClear: (alert, labels) =>
      until(
        `${alert} ${JSON.stringify(labels ?? {})} is clear`,
        async () => (await firing(alert, labels)).length === 0,
      ),
    async ask(expression) {
      const { result } = await get<{ result: { metric: Labels; value: [number, string] }[] }>('query', {
        query: expression,
      });
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    sinceStart,
    seen: async () => (await sinceStart('ALERTS{alertstate="firing"}')).map(({ metric }) => metric),
    async close() {
      await child.stop(5_000);
    },
  };
}
