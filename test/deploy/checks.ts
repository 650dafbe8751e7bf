/** Published checkers of the formats of deploy/, from PyPI: installed once, each file of them by its hash. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonRequirements } from '../support/python.ts';

const run = promisify(execFile);

export const ROOT = join(import.meta.dirname, '../..');

export type Check = (...files: string[]) => Promise<string>;

/** Each resolves with what it printed, and rejects where it found something wrong. */
export async function publishedChecks(): Promise<{
  compose: Check;
  kubernetes: Check;
  kustomize: (directory: string) => Promise<string>;
  dockerfile: Check;
}> {
  const packages = await pythonRequirements(join(import.meta.dirname, 'checks-requirements.txt'));
  const env = { ...process.env, PYTHONPATH: packages };
  const program = async (command: string, args: string[]) => {
    const { stdout, stderr } = await run(command, args, { cwd: ROOT, env, timeout: 60_000, maxBuffer: 1 << 22 });
    return stdout + stderr;
  };
  return {
    // The compose specification's own JSON schema, which the package carries.
    compose: (...files) =>
      program('python3', ['-m', 'check_jsonschema', '--builtin-schema', 'vendor.compose-spec', ...files]),
    kubernetes: (...files) => program('python3', ['-m', 'kubernetes_validate', '--strict', ...files]),
    kustomize: (directory) => program(join(packages, 'bin', 'kubectl'), ['kustomize', directory]),
    dockerfile: (...files) => program(join(packages, 'bin', 'hadolint'), files),
  };
}
