/** A copy of the HTTP API on a site, and callers with tokens. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AUDIENCE, ISSUER, KEY_SET, type TokenParts, token } from '../../test/api/fixtures.ts';
import { type HttpAnswer, type HttpRequest, httpCall } from '../../test/support/http-call.ts';
import type { Site } from '../load/site.ts';
import { type Program, startProgram } from '../processes.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Longer than any part. */
const TOKENS_LAST_S = 4 * 3_600;

export interface BenchApi {
  url: string;
  program: Program;
  /** Requests to Temporal so far, by gRPC method. */
  requests(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

/** @param profileDir the directory for a CPU profile, which it writes when it ends */
export async function startBenchApi(site: Site, profileDir?: string): Promise<BenchApi> {
  const [keySetFile, countsFile] = [join(site.dataDir, 'api-keys.json'), join(site.dataDir, 'api-counts.json')];
  await writeFile(keySetFile, JSON.stringify(KEY_SET));
  await writeFile(countsFile, '{}');
  const profiling = profileDir === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profileDir];
  const counting = ['--import', path('./count-requests.ts')];
  const program = await startProgram([...profiling, ...counting, path('../../src/cli.ts'), 'api', '--json'], {
    ...site.env,
    API_PORT: '0',
    API_JWKS_FILE: keySetFile,
    API_JWT_ISSUER: ISSUER,
    API_JWT_AUDIENCE: AUDIENCE,
    API_AUDIT_FILE: join(site.dataDir, 'api-audit.log'),
    BENCH_COUNTS_FILE: countsFile,
  });
  return {
    url: String(program.ready.url),
    program,
    requests: async () => JSON.parse(await readFile(countsFile, 'utf8')),
    stop: () => program.stop(15_000),
  };
}

/** One caller: the API bounds each by itself. */
export function callerToken(nth: number, parts: TokenParts = {}): Promise<string> {
  const expiresAt = Math.floor(Date.now() / 1_000) + TOKENS_LAST_S;
  return token({ ...parts, expiresAt, claims: { sub: `caller-${nth}` } });
}

/** @throws Error for any status that is none of `expected` */
export async function call(
  api: BenchApi,
  route: string,
  request: HttpRequest,
  expected: readonly number[] = [200, 201, 202],
): Promise<HttpAnswer> {
  const answer = await httpCall(`${api.url}${route}`, request);
  if (!expected.includes(answer.status)) throw new Error(`${route} was answered with ${answer.status}: ${answer.text}`);
  return answer;
}

/** How many more of each there are. */
export function difference(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after)
      .map(([method, count]) => [method, count - (before[method] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
}

export function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
