/** The sandbox's options, checked and completed. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type FaultRule, parsePlan } from './faults/plan.ts';
import { VARIANT_NAMES } from './faults/variants.ts';
import { localClock } from './rules/local-time.ts';

/** Judges requests by rules of the sandbox's own too: those that the interface does not have. */
export const OWN_RULES = 'ownRules';

const DEFAULTS = {
  /** 0 takes a free port. */
  port: 0,
  /** An IP address. The sandbox checks no identity, so another address needs an isolated network. */
  host: '127.0.0.1',
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-secret',
  audience: 'servicegateway',
  /** IANA name: `originalInquiryDate` is read in it. */
  timeZone: 'UTC',
  /** `expires_in` of new tokens, as in the interface's sample (2.2). */
  tokenLifetimeSeconds: 28_800,
  /** Seed of fault plans without a seed of their own. */
  seed: 1,
  /** How long each posted inquiry waits for its answer. */
  latencyMs: 0,
};

interface Files {
  /** Keeps posted inquiries and issued references across restarts. Without it they live in memory. */
  stateFile?: string;
  /** Gets one line for each event. Default: no journal. */
  journalFile?: string;
  /** PEM: with both it speaks https. */
  tlsCertFile?: string;
  tlsKeyFile?: string;
}

export interface SandboxOptions extends Partial<typeof DEFAULTS>, Files {
  /**
   * Names of variants that every answer has beyond the interface's shape, or `ownRules`. In camel case or, as on the
   * command line, with dashes. Default: none.
   */
  with?: readonly string[];
  /** The rules that a plan of `PUT /_sandbox/faults` replaces: each a fault's name, or a rule in JSON. Default: none. */
  fault?: readonly string[];
}

export type Settings = typeof DEFAULTS &
  Files & {
    with: ReadonlySet<string>;
    /** The plan's rules at the start and after a reset. */
    faultRules: readonly FaultRule[];
    tls: { cert: Buffer; key: Buffer } | undefined;
  };

/** The options with their defaults. Throws a `RangeError` that names the first invalid option. */
export function settingsOf({ with: variants = [], fault = [], ...options }: SandboxOptions): Settings {
  const settings: Settings = {
    ...DEFAULTS,
    ...options,
    tls: tlsOf(options),
    with: readNames(variants),
    faultRules: readRules(fault),
  };
  const integer = (name: 'port' | 'tokenLifetimeSeconds' | 'seed' | 'latencyMs', least: number, most: number): void => {
    const value = settings[name];
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      throw new RangeError(`sandbox option ${name} must be an integer from ${least} to ${most}`);
    }
  };
  integer('port', 0, 65_535);
  integer('tokenLifetimeSeconds', 1, 31_536_000);
  integer('seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  integer('latencyMs', 0, 600_000);
  if (isIP(settings.host) === 0) throw new RangeError('sandbox option host must be an IP address');
  try {
    localClock(settings.timeZone);
  } catch {
    throw new RangeError('sandbox option timeZone must be an IANA time zone');
  }
  return settings;
}

function readNames(given: readonly string[]): ReadonlySet<string> {
  const known = [...VARIANT_NAMES, OWN_RULES];
  const names = given.map((name) => name.replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase()));
  if (!names.every((name) => known.includes(name))) {
    throw new RangeError(`sandbox option with must be of ${known.join(', ')}`);
  }
  return new Set(names);
}

function readRules(given: readonly string[]): FaultRule[] {
  const parsed = parsePlan({ rules: given.map(readRule) }, 0);
  if ('plan' in parsed) return parsed.plan.rules;
  const [problem] = parsed.problems;
  throw new RangeError(`sandbox option fault: ${problem?.path} must be ${problem?.rule}`);
}

function readRule(text: string): unknown {
  if (!text.startsWith('{')) return { fault: text };
  try {
    return JSON.parse(text);
  } catch {
    throw new RangeError("sandbox option fault must be a fault's name, or a rule in JSON");
  }
}

function tlsOf({ tlsCertFile, tlsKeyFile }: SandboxOptions): Settings['tls'] {
  if (tlsCertFile === undefined && tlsKeyFile === undefined) return undefined;
  try {
    return { cert: readFileSync(tlsCertFile ?? ''), key: readFileSync(tlsKeyFile ?? '') };
  } catch {
    throw new RangeError('sandbox options tlsCertFile and tlsKeyFile must both name files that can be read');
  }
}

/** Whether only its own machine can reach an IP address. */
export function isOwnMachine(host: string): boolean {
  return host === '::1' || host.startsWith('127.');
}
