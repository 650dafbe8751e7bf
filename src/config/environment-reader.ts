/** Reads variables one by one and collects their problems, so that one error lists all of them. */
import { readFileSync } from 'node:fs';
import { ConfigError, type ConfigProblem } from '../model/problems.ts';

/** `ENOENT` and the like; the message of a file error would contain its path. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
}

export interface IntegerRange {
  default: number;
  min: number;
  max: number;
}

export class EnvironmentReader {
  readonly env: NodeJS.ProcessEnv;
  readonly problems: ConfigProblem[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.env = env;
  }

  report(variable: string, rule: string): void {
    this.problems.push({ variable, rule });
  }

  /** An empty variable counts as absent: compose files pass `${X:-}`. */
  optional(variable: string): string | undefined {
    return this.env[variable] || undefined;
  }

  /** The value, or else the default; without either a problem and the empty text. */
  text(variable: string, fallback: string | undefined, check: (value: string) => string | null = () => null): string {
    const value = this.optional(variable) ?? fallback;
    if (value === undefined) {
      this.report(variable, 'is required');
      return '';
    }
    const rule = check(value);
    if (rule) this.report(variable, rule);
    return value;
  }

  oneOf<const T extends readonly string[]>(variable: string, values: T, fallback: T[number]): T[number] {
    const value = this.optional(variable) ?? fallback;
    if (values.includes(value)) return value as T[number];
    this.report(variable, `must be ${values.join(' or ')}`);
    return fallback;
  }

  integer(variable: string, range: IntegerRange): number {
    const value = this.optional(variable);
    if (value === undefined) return range.default;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= range.min && number <= range.max) return number;
    this.report(variable, `must be a whole number from ${range.min} to ${range.max}`);
    return range.default;
  }

  /** The text of a file that is read once, at start; `undefined` with a problem where it cannot be read. */
  file(variable: string, path: string, place = ''): string | undefined {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      this.report(variable, `${place}must name a file that can be read (${errorCode(error)})`);
      return undefined;
    }
  }

  throwIfWrong(): void {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
  }
}
