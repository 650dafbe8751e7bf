/** Reads the environment by the table of variables, and collects its problems, so that one error lists all of them. */
import { readFile } from 'node:fs/promises';
import { READ_WITHOUT_WAIT } from '../base/read-flags.ts';
import { ConfigError, type ConfigProblem } from '../model/problems.ts';
import type { Environment } from '../model/products.ts';
import { checkOpenFile } from './rules.ts';
import { content, findVariables, type VariableName, type VariableValue } from './variables.ts';

/** The only variable with a meaning when it is empty: compose files pass `${X:-}` for absent ones. */
const MAY_BE_EMPTY = 'GATEWAY_NOT_PROCESSED_STATUSES';

export class EnvironmentReader {
  readonly env: NodeJS.ProcessEnv;
  readonly environment: Environment;
  readonly problems: ConfigProblem[] = [];
  readonly #values = new Map<VariableName, unknown>();

  constructor(env: NodeJS.ProcessEnv) {
    this.env = env;
    this.environment = 'sandbox';
    this.environment = this.get('GATEWAY_ENVIRONMENT');
  }

  /**
   * Returns the value, or the default. Reports a wrong value, and a missing one without a default, which becomes ''.
   */
  get<N extends VariableName>(name: N): VariableValue<N> {
    if (!this.#values.has(name)) this.#values.set(name, this.#read(name));
    return this.#values.get(name) as VariableValue<N>;
  }

  #read(name: VariableName): unknown {
    const schema = findVariables(this.environment)[name];
    const value = name === MAY_BE_EMPTY ? this.env[name] : this.raw(name);
    const { data, error } = schema.safeParse(value);
    if (!error) return data;
    this.report(name, error.issues[0]?.message ?? 'is not valid');
    const { success, data: fallback } = schema.safeParse(undefined);
    return success ? fallback : '';
  }

  /** Returns the text of any variable, unchecked. An empty variable counts as absent. */
  raw(variable: string): string | undefined {
    return this.env[variable] || undefined;
  }

  report(variable: string, rule: string | null): void {
    if (rule !== null) this.problems.push({ variable, rule });
  }

  /** Reads a file once, at the start; `undefined` with a problem if it cannot be read. */
  file(variable: string, path: string, place = ''): string | undefined {
    const { data, error } = content().safeParse(path);
    if (error) this.report(variable, `${place}${error.issues[0]?.message}`);
    return data;
  }

  /** Reports a variable whose file contains a secret and is open to every user of the machine; in production only. */
  requireClosedFile(variable: string): void {
    const path = this.raw(variable);
    if (path !== undefined && this.environment === 'production') this.report(variable, checkOpenFile(path));
  }
}

/** Reads one part of the environment. @throws ConfigError with every problem of that part */
export function readPart<T>(env: NodeJS.ProcessEnv, read: (reader: EnvironmentReader) => T): T {
  const reader = new EnvironmentReader(env);
  const part = read(reader);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return part;
}

/** Loads one variable, for a program that needs nothing else of the configuration. @throws ConfigError */
export function loadVariable<N extends VariableName>(env: NodeJS.ProcessEnv, name: N): VariableValue<N> {
  return readPart(env, (reader) => reader.get(name));
}

export type SecretReader = () => Promise<string>;

/**
 * Opens the secret `NAME`, or the one in the file that `NAME_FILE` names. `undefined` if neither is given.
 *
 * @param isSecret in production it comes from a file only, which is closed to other users (docs/protection.md)
 */
export function openSecret(reader: EnvironmentReader, name: string, isSecret = true): SecretReader | undefined {
  const fileVariable = `${name}_FILE`;
  const [value, file] = [reader.raw(name), reader.raw(fileVariable)];
  if (value !== undefined && file !== undefined) reader.report(name, 'must not be given beside its file');
  if (file !== undefined) return openSecretFile(reader, fileVariable, file, { isSecret });
  if (value === undefined) return undefined;
  if (isSecret && reader.environment === 'production') reader.report(name, 'must come from a file in production');
  return async () => value;
}

/**
 * Checks the file at the start, and reads it at each use, so that a rotated secret takes effect.
 *
 * @param place put before each rule: the path in the profiles file
 */
export function openSecretFile(
  reader: EnvironmentReader,
  variable: string,
  path: string,
  { place = '', isSecret = true, check = (_secret: string): string | null => null } = {},
): SecretReader {
  const report = (rule: string | null) => reader.report(variable, rule && `${place}${rule}`);
  const secret = reader.file(variable, path, place)?.trim();
  if (secret !== undefined) report(secret === '' ? 'must name a file that is not empty' : check(secret));
  if (isSecret && reader.environment === 'production') report(checkOpenFile(path));
  // Secret managers and editors end files with a newline that is no part of the secret.
  return async () => (await readFile(path, { encoding: 'utf8', flag: READ_WITHOUT_WAIT })).trim();
}
