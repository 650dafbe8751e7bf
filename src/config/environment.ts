/** Reads the environment by the table of variables, and collects its problems, so that one error lists all of them. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { getErrorCode } from '../base/error-code.ts';
import { ConfigError, type ConfigProblem } from '../model/problems.ts';
import type { Environment } from '../model/products.ts';
import { checkOpenFile } from './rules.ts';
import { findVariables, type VariableName, type VariableValue } from './variables.ts';

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
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      this.report(variable, `${place}must name a file that can be read (${getErrorCode(error)})`);
      return undefined;
    }
  }

  /** Reports a variable whose file contains a secret and is open to every user of the machine; in production only. */
  requireClosedFile(variable: string): void {
    const path = this.raw(variable);
    if (path !== undefined && this.environment === 'production') this.report(variable, checkOpenFile(path));
  }

  throwIfWrong(): void {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
  }
}

/** Reads one part of the environment. @throws ConfigError with every problem of that part */
export function readPart<T>(env: NodeJS.ProcessEnv, read: (reader: EnvironmentReader) => T): T {
  const reader = new EnvironmentReader(env);
  const part = read(reader);
  reader.throwIfWrong();
  return part;
}

/** Loads one variable, for a program that needs nothing else of the configuration. @throws ConfigError */
export function loadVariable<N extends VariableName>(env: NodeJS.ProcessEnv, name: N): VariableValue<N> {
  return readPart(env, (reader) => reader.get(name));
}

/** The two places of a secret: a variable, or a file that another variable names. */
export interface SecretPlace {
  value: string | undefined;
  file: string | undefined;
  /** The names of both in problems. For a secret of the profiles file these are its variable. */
  names: { value: string; file: string };
  /** Put before each rule: the path in the profiles file. */
  place?: string;
  /** In production the secret comes from a file only, which is closed to other users (docs/protection.md). */
  isSecret: boolean;
}

/** Finds `NAME`, or the file that `NAME_FILE` names. */
export function findSecret(reader: EnvironmentReader, name: string, isSecret = true): SecretPlace {
  const names = { value: name, file: `${name}_FILE` };
  return { value: reader.raw(names.value), file: reader.raw(names.file), names, isSecret };
}

/**
 * Returns a reader of a secret that reads its file at each use, so that a rotated secret takes effect. `undefined` if
 * neither place is named. Checks at the start that the file can be read.
 */
export function openSecret(reader: EnvironmentReader, secret: SecretPlace): (() => Promise<string>) | undefined {
  const { value, file, names, place = '', isSecret } = secret;
  const fromFileOnly = isSecret && reader.environment === 'production';
  const report = (variable: string, rule: string | null) => rule && reader.report(variable, `${place}${rule}`);
  if (value !== undefined && file !== undefined) report(names.value, 'must not be given beside its file');
  if (file !== undefined) {
    const content = reader.file(names.file, file, place);
    if (content?.trim() === '') report(names.file, 'must name a file that is not empty');
    if (fromFileOnly) report(names.file, checkOpenFile(file));
    // Secret managers and editors end files with a newline that is no part of the secret.
    return async () => (await readFile(file, 'utf8')).trim();
  }
  if (value === undefined) return undefined;
  if (fromFileOnly) report(names.value, 'must come from a file in production');
  return async () => value;
}
