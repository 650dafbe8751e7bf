/**
 * Every environment variable that the programs read, by subject: its name, its values and its default.
 * docs/configuration.md explains each, and a test compares its tables with these.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { getErrorCode } from '../base/error-code.ts';
import { parseDurationMs } from '../base/instants.ts';
import { parseJson } from '../base/json-safety.ts';
import { PRINTABLE } from '../base/portable-patterns.ts';
import { ALGORITHMS } from '../base/signature-algorithms.ts';
import { ACCENTS } from '../fields/accents.ts';
import { checkAlphanumeric, ruledText } from '../fields/alphanumeric.ts';
import { MOST_APPLICANTS } from '../fields/applicant-schemas.ts';
import { describeValueRule } from '../fields/problems.ts';
import { SSNS_WITH_NINE } from '../gateway/made-up-applicants.ts';
import { ENVIRONMENTS, type Environment } from '../model/products.ts';
import {
  checkAddress,
  checkApiVersion,
  checkCollectorAddress,
  checkGatewayAddress,
  checkLedgerAddress,
  checkLedgerVariable,
  checkOrigin,
  checkTaskQueue,
  checkTimeZone,
  findStats,
} from './rules.ts';

/** Default address of `credit-journey dev` and `credit-journey sandbox`. */
const SANDBOX_ADDRESS = 'http://127.0.0.1:7280';

/** Default addresses of the UI of `credit-journey dev`. */
const DEV_UI_ORIGINS = 'http://127.0.0.1:8233,http://localhost:8233';

/** Beside the sandbox's 7280. */
export const DEFAULT_PORTS = { codecServer: 7281, api: 7282 } as const;

export const SANDBOX_KEY_RING_FILE = '.credit-journey/keys.json';

const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * - `encode`: have payloads encrypted
 * - `decode-redacted`: people; see decoded payloads with personal data masked
 * - `decode`: services; see everything
 * - `reveal`: people; as `decode-redacted`, and everything where they ask for it
 */
export const CODEC_ROLES = ['encode', 'decode-redacted', 'decode', 'reveal'] as const;
export type CodecRole = (typeof CODEC_ROLES)[number];

const TRUST = ['namespace', 'proof'] as const;

interface Range {
  min: number;
  max: number;
}

/** The longest time-out of a request. The activity's own time-out must be longer still. */
const TIMEOUT: Range = { min: 1, max: 600_000 };
const HOUR_MS = 3_600_000;
const UP_TO_AN_HOUR: Range = { min: 1, max: HOUR_MS };
const UP_TO_A_DAY: Range = { min: 1, max: 24 * HOUR_MS };

/** The limits of a gateway profile, by variable and range. A profile of the profiles file has them too. */
export const GATEWAY_LIMITS = {
  connections: { variable: 'GATEWAY_CONNECTIONS', min: 1, max: 256 },
  connectTimeoutMs: { variable: 'GATEWAY_CONNECT_TIMEOUT_MS', ...TIMEOUT },
  headersTimeoutMs: { variable: 'GATEWAY_HEADERS_TIMEOUT_MS', ...TIMEOUT },
  bodyTimeoutMs: { variable: 'GATEWAY_BODY_TIMEOUT_MS', ...TIMEOUT },
  maxResponseBytes: { variable: 'GATEWAY_MAX_RESPONSE_BYTES', min: 1_024, max: 128 * 1024 * 1024 },
  maxApplicants: { variable: 'GATEWAY_MAX_APPLICANTS', min: 1, max: MOST_APPLICANTS },
} as const;

export function text(problem: (value: string) => string | null = () => null) {
  return ruledText(problem, 'is required');
}

function form(pattern: RegExp, rule: string) {
  return text((value) => (pattern.test(value) ? null : rule));
}

function choice<const T extends readonly string[]>(values: T) {
  return z.enum(values, describeValueRule(values));
}

function whole({ min, max }: Range) {
  return z
    .string()
    .transform((value) => (/^\d{1,15}$/.test(value) ? Number(value) : Number.NaN))
    .refine((number) => number >= min && number <= max, `must be a whole number from ${min} to ${max}`);
}

/** Milliseconds. */
function duration({ zero = false } = {}) {
  const rule = 'must be an ISO 8601 duration in days and time, such as PT24H';
  return z
    .string()
    .transform((value) => (zero && value === 'PT0S' ? 0 : (parseDurationMs(value) ?? Number.NaN)))
    .refine((ms) => !Number.isNaN(ms), rule);
}

/** Entries with commas between. One problem is enough, however many of them are wrong. */
function list(problem: (entry: string) => string | null = () => null) {
  return z
    .string()
    .transform((value) => value.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])))
    .superRefine((entries, context) => {
      const rule = entries.map(problem).find((found) => found !== null);
      if (rule) context.addIssue({ code: 'custom', message: rule });
    });
}

/** Entries that are among `words`. */
function listFrom<const T extends readonly string[]>(words: T) {
  const isWord = (entry: string): entry is T[number] => words.includes(entry);
  return list((entry) => (isWord(entry) ? null : `must be among ${words.join(', ')}, with commas between`)).transform(
    (entries) => entries.filter(isWord),
  );
}

/** The text of the file that a variable names, read once, at the start. */
export function content() {
  return z.string().transform((path, context) => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const message = `must name a file that can be read (${getErrorCode(error)})`;
      context.issues.push({ code: 'custom', message, input: path });
      return z.NEVER;
    }
  });
}

export function certificate() {
  return content().refine(isPem, 'must hold PEM certificates');
}

/** Checks each certificate: TLS ignores one that it cannot read, and then trusts no server that it has signed. */
function isPem(text: string): boolean {
  const certificates = text
    .split(/(?=-----BEGIN CERTIFICATE-----)/)
    .filter((part) => part.startsWith('-----BEGIN CERTIFICATE-----'));
  try {
    return certificates.map((pem) => new X509Certificate(pem)).length > 0;
  } catch {
    return false;
  }
}

/** The value in a file of JSON. The parser's own message would quote the file. */
function json() {
  return content()
    .transform(parseJson)
    .refine((parsed) => parsed !== null, 'must name a file that holds JSON')
    .transform((parsed) => parsed?.[0]);
}

export interface ListenAddress {
  /** An IP address; IPv6 without brackets. */
  host: string;
  port: number;
}

/** `9464`, `0.0.0.0:9464` or `[::]:9464`; without an address, this machine alone. */
function listenAddress() {
  return z.string().transform((value, context): ListenAddress => {
    const [, given = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(value) ?? [];
    const host = given === 'localhost' ? '127.0.0.1' : given.replace(/^\[(.*)\]$/, '$1');
    const port = Number(digits);
    const version = isIP(host);
    const isRight = port >= 1 && port <= 65_535 && version !== 0 && (version === 6) === given.startsWith('[');
    if (isRight) return { host, port };
    const message = 'must be a port, or an IP address and a port such as 0.0.0.0:9464';
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });
}

const withoutSlash = (address: string) => address.replace(/\/+$/, '');

const limitedTo = (characters: number) => (value: string) => checkAlphanumeric(value, characters);

const isLine = (value: string, most: number) => value.length <= most && new RegExp(PRINTABLE).test(value);

function statuses() {
  return z
    .string()
    .transform((value) => (/^(none)?$/.test(value.trim()) ? [] : value.split(',').map((part) => part.trim())))
    .refine(
      (parts) => parts.every((part) => /^[45]\d\d$/.test(part)),
      'must be HTTP statuses from 400 to 599 with commas between, or empty',
    )
    .transform((parts) => [...new Set(parts.map(Number))]);
}

/** Limits the length, since the Temporal UI makes a link of an address in a hold's details only up to a length. */
function checkRunbookUrl(url: string): string | null {
  return url.length > 200 ? 'must have at most 200 characters' : checkAddress(url, 'sandbox');
}

function checkNamespace(name: string): string | null {
  return /^[!-9;-~]{1,255}$/.test(name) ? null : 'must be names of namespaces, with commas between';
}

const PROXY = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

function checkProxy(proxy: string): string | null {
  return PROXY.safeParse(proxy).success ? null : 'must be addresses or CIDR blocks, with commas between';
}

const PORT: Range = { min: 0, max: 65_535 };

const RATE = /^(?=.*[1-9])\d{1,5}(\.\d{1,6})?$/;

/** A header whose name means something in the protocol is refused. */
const TOKEN_HEADER =
  /^(?!(?:authorization|cookie|host|origin|forwarded|sec-|x-forwarded-(?:for|host|proto)$))[a-z][a-z\d-]{0,63}$/i;

/** Two slashes would begin another host's address. */
const OWN_PATH = /^\/(?![/\\])[\w./?=&%~:{}-]{1,500}$/;
const OWN_PATH_RULE = 'must be a path of the page’s own host, such as /oauth2/start';

/** Temporal puts "." or ":" between name and build id. A controller's name is `<namespace>/<name of the resource>`. */
const DEPLOYMENT =
  /^([A-Za-z0-9][A-Za-z0-9_-]{0,63}|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)$/;
const DEPLOYMENT_RULE = 'must be 1 to 64 letters, digits, dashes or underscores, or <namespace>/<name> of a controller';

/** A tag, a commit or the hex digits of a digest. */
const BUILD = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const BUILD_RULE = 'must be 1 to 128 letters, digits, dots, dashes or underscores';

export const REHEARSAL_RULE = 'must be off in production: a rehearsal is for uat';

type Rule = (value: string, environment: Environment) => string | null;

/** An address without the slash at its end. */
function address(environment: Environment) {
  return text((url) => checkAddress(url, environment)).transform(withoutSlash);
}

/** The variables of both HTTP services, each with its prefix. */
function service<const P extends 'API' | 'CODEC'>(prefix: P, environment: Environment) {
  const shared = {
    JWKS_URL: address(environment).optional(),
    JWKS_FILE: text().optional(),
    JWT_ISSUER: text(),
    JWT_AUDIENCE: text(),
    JWT_ALGORITHMS: listFrom(ALGORITHMS).optional(),
    TLS_CERT_FILE: text().optional(),
    TLS_KEY_FILE: text().optional(),
    TRUSTED_PROXIES: list(checkProxy).prefault(''),
    AUDIT_FILE: text().optional(),
    // The default is a figure among the service's other limits.
    RATE_PER_SECOND: whole({ min: 1, max: 100_000 }).optional(),
  };
  const entries = Object.entries(shared).map(([name, schema]) => [`${prefix}_${name}`, schema]);
  return Object.fromEntries(entries) as { [K in keyof typeof shared as `${P}_${K}`]: (typeof shared)[K] };
}

/** An environment's variables: some defaults and rules differ. */
function makeTable(environment: Environment) {
  const isSandbox = environment === 'sandbox';
  const withRule = (problem: Rule) => text((value) => problem(value, environment));
  /** The default of the sandbox. Elsewhere the variable is required. */
  const inSandbox = <T extends z.ZodType<string, string>>(value: string, schema: T) =>
    isSandbox ? schema.prefault(value as never) : schema;
  return {
    GATEWAY_ENVIRONMENT: choice(ENVIRONMENTS).prefault('sandbox'),
    GATEWAY_AUTH_URL: inSandbox(SANDBOX_ADDRESS, withRule(checkGatewayAddress)),
    GATEWAY_BASE_URL: inSandbox(SANDBOX_ADDRESS, withRule(checkGatewayAddress)),
    GATEWAY_API_VERSION: text(checkApiVersion).prefault('grs_v001'),
    // Interface 2.1: only the sample value is known.
    GATEWAY_AUDIENCE: text().prefault('servicegateway'),
    // The defaults of the sandbox are with the credentials (gateway-profiles.ts).
    GATEWAY_CLIENT_ID: text().optional(),
    GATEWAY_CLIENT_ID_FILE: text().optional(),
    GATEWAY_CLIENT_SECRET: text().optional(),
    GATEWAY_CLIENT_SECRET_FILE: text().optional(),
    GATEWAY_CUSTOMER_ID: inSandbox('SANDBOX0001', text(limitedTo(16))),
    GATEWAY_SOFTWARE_PROVIDER_ID: inSandbox('CJ01', text(limitedTo(4))),
    GATEWAY_TIME_ZONE: inSandbox('UTC', text(checkTimeZone)),
    GATEWAY_CA_FILE: certificate().optional(),
    GATEWAY_NOT_PROCESSED_STATUSES: statuses().prefault('401,429'),
    GATEWAY_SSN_MISMATCH: choice(['hold', 'flag']).prefault('hold'),
    GATEWAY_SSNS_WITH_9: choice(SSNS_WITH_NINE)
      .refine((value) => value !== 'send' || environment !== 'production', 'must be refuse or itinOnly in production')
      .prefault('refuse'),
    GATEWAY_ACCENTS: choice(ACCENTS).prefault('refuse'),
    GATEWAY_REHEARSAL: choice(['off', 'on'])
      .refine((value) => value === 'off' || environment !== 'production', REHEARSAL_RULE)
      .prefault('off'),
    GATEWAY_RESEND_TRACE_NUMBER: choice(['same', 'new']).prefault('same'),
    GATEWAY_ORIGINAL_INQUIRY_DATE_SOURCE: choice(['secondaryUse', 'originalRequest']).prefault('secondaryUse'),
    GATEWAY_PROFILES_FILE: json().optional(),
    // The provider's limits are not shown (interface 8). Eight carry some 16 inquiries a second.
    GATEWAY_CONNECTIONS: whole(GATEWAY_LIMITS.connections).prefault('8'),
    // One or two lost SYN packets. Before the first byte a failure is harmless and is retried.
    GATEWAY_CONNECT_TIMEOUT_MS: whole(GATEWAY_LIMITS.connectTimeoutMs).prefault('10000'),
    // The longer end of the advised range: giving up early costs a hold.
    GATEWAY_HEADERS_TIMEOUT_MS: whole(GATEWAY_LIMITS.headersTimeoutMs).prefault('60000'),
    // Half a minute of silence within a report means a broken connection.
    GATEWAY_BODY_TIMEOUT_MS: whole(GATEWAY_LIMITS.bodyTimeoutMs).prefault('30000'),
    // Ten times the longest joint file: the interface shows no limits of payloads (8).
    GATEWAY_MAX_RESPONSE_BYTES: whole(GATEWAY_LIMITS.maxResponseBytes).prefault('10485760'),
    // "Typically 1 to 2" (interface 8) is no maximum.
    GATEWAY_MAX_APPLICANTS: whole(GATEWAY_LIMITS.maxApplicants).prefault('2'),

    // Ledger, keys and files.
    LEDGER_URL: inSandbox('file:.credit-journey/ledger.db', withRule(checkLedgerVariable)),
    LEDGER_URL_FILE: content()
      .transform((url) => url.trim())
      .pipe(withRule(checkLedgerAddress))
      .optional(),
    LEDGER_ID: text().optional(),
    LEDGER_DURABILITY: choice(['replication', 'storage', 'accepted']).prefault('replication'),
    // Logs and `doctor` show it.
    LEDGER_DURABILITY_BY: text((by) =>
      isLine(by, 200) ? null : 'must be one line of at most 200 characters',
    ).optional(),
    KEY_RING_FILE: inSandbox(SANDBOX_KEY_RING_FILE, text()),
    // Only the sandbox may run in the clear, for example to try a caller in a language without a codec.
    PAYLOAD_ENCRYPTION: choice(['on', 'off'])
      .refine((value) => value === 'on' || isSandbox, 'may be off only in the sandbox')
      .prefault('on'),
    PORTFOLIO_DIR: text((path) =>
      isAbsolute(path) && findStats(path)?.isDirectory() ? null : 'must be the absolute path of a directory',
    ).optional(),
    // Any sender with write access to the namespace could invent a consent. For real credit files that is not enough.
    CONSENT_TRUST: choice(TRUST).prefault(environment === 'production' ? 'proof' : 'namespace'),
    CONSENT_JWKS_FILE: text().optional(),
    // By default an operator may also decide in Temporal's UI, which cannot sign.
    DECISION_TRUST: choice(TRUST).prefault('namespace'),
    DECISION_JWKS_FILE: text().optional(),

    // The way to Temporal and the codec server, and logs. Clients read these too.
    CODEC_SERVER_URL: address(environment).optional(),
    CODEC_SERVER_TOKEN: text().optional(),
    CODEC_SERVER_TOKEN_FILE: text().optional(),
    CODEC_SERVER_CA_FILE: certificate().optional(),
    // The default contains the environment, so that workers of two environments never take each other's work.
    TASK_QUEUE: withRule(checkTaskQueue).prefault(`credit-journeys-${environment}`),
    // At TRACE the SDK passes whole tasks to its logger. Only our list of fields would keep personal data out.
    LOG_LEVEL: choice(LOG_LEVELS)
      .refine((level) => level !== 'TRACE' || isSandbox, 'may be TRACE only in the sandbox')
      .prefault('INFO'),
    METRICS_ADDRESS: listenAddress().optional(),
    // Exact enough for an alert. Each refresh costs a few statements and at most 50 calls to Temporal.
    METRICS_REFRESH_SECONDS: whole({ min: 1, max: 3_600 }).prefault('60'),
    HEALTH_ADDRESS: listenAddress().optional(),
    OTEL_EXPORTER_OTLP_ENDPOINT: withRule(checkCollectorAddress).optional(),

    // The inquiry protocol.
    // After a day of waiting, an operator should know of the loan.
    GIVE_UP_AFTER: duration().prefault('PT24H'),
    BACKOFF_INITIAL_MS: whole(UP_TO_AN_HOUR).prefault('1000'),
    // An outage of the provider lasts a second or an hour. Five minutes is the longest acceptable delay after it ends.
    BACKOFF_MAX_MS: whole(UP_TO_A_DAY).prefault('300000'),
    // A gateway that asks for more than an hour has an error or is down. Asking again hourly costs nothing.
    RETRY_AFTER_MAX_MS: whole(UP_TO_A_DAY).prefault('3600000'),
    // Long enough for a queue of eight connections to begin, and short enough that a decision does not wait for it.
    SEND_BY_MS: whole({ min: 1, max: 60_000 }).prefault('5000'),
    // After its process has ended, a kernel keeps sending its buffer. Linux gives up after 15 retransmissions, at most
    // 924 s (`tcp_retries2`). The sandbox runs on this machine, where nothing arrives late.
    RESEND_AFTER: duration({ zero: true }).prefault(isSandbox ? 'PT0S' : 'PT16M'),
    SUBMIT_TIMEOUT_MS: whole(UP_TO_AN_HOUR).optional(),
    // How soon a killed worker is noticed. A shorter time would mistake a pause of the process for its end.
    HEARTBEAT_TIMEOUT_MS: whole({ min: 500, max: 300_000 }).prefault('10000'),
    // The server ends a run at 51,200 events and takes 2,000 updates, which a run counts as 8,000 events. A fresh run has
    // about 20 events before its first wait. With fewer than 100 it would do little but continue as new.
    HAND_OVER_AFTER_EVENTS: whole({ min: 100, max: 7_500 }).prefault('3000'),

    // Workers.
    RUNBOOK_URL: text(checkRunbookUrl).transform(withoutSlash).optional(),
    // A restored ledger may lack attempts since the last look without notice.
    LEDGER_WATCH_EVERY_MS: whole({ min: 200, max: 86_400_000 }).prefault('60000'),
    // Without a cache each workflow task is a replay: slow, but correct.
    WORKER_MAX_CACHED_WORKFLOWS: whole({ min: 0, max: 100_000 }).optional(),
    // No default: the interface does not show the provider's limits (8), and a guess would slow providers without one.
    GATEWAY_MAX_INQUIRIES_PER_SECOND: form(RATE, 'must be a number above 0, such as 0.5 or 20')
      .transform(Number)
      .optional(),
    WORKFLOW_BUNDLE_FILE: text((path) => (existsSync(path) ? null : 'must name a file that exists')).optional(),
    DEPLOYMENT_NAME: form(DEPLOYMENT, DEPLOYMENT_RULE).optional(),
    BUILD_ID: form(BUILD, BUILD_RULE).optional(),
    TEMPORAL_DEPLOYMENT_NAME: form(DEPLOYMENT, DEPLOYMENT_RULE).optional(),
    TEMPORAL_WORKER_BUILD_ID: form(BUILD, BUILD_RULE).optional(),
    // A receiver that broke on a Friday evening is repaired by Monday.
    WEBHOOK_GIVE_UP_AFTER: duration().prefault('P3D'),

    // The HTTP services.
    ...service('API', environment),
    API_HOST: text().prefault('127.0.0.1'),
    API_PORT: whole(PORT).prefault(String(DEFAULT_PORTS.api)),
    API_BY_CLAIM: form(/^[\w:./-]{1,100}$/, 'must be the name of a claim').prefault('sub'),
    API_TOKEN_HEADER: form(TOKEN_HEADER, 'must be the name of a header that has no other meaning').optional(),
    API_SIGN_IN: choice(['proxy', 'token'])
      .refine((value) => value === 'proxy' || environment !== 'production', 'must be proxy in production')
      .prefault('proxy'),
    API_SIGN_IN_PATH: form(OWN_PATH, OWN_PATH_RULE).optional(),
    API_SIGN_OUT_PATH: form(OWN_PATH, OWN_PATH_RULE).optional(),
    API_TEMPORAL_UI: address(environment).optional(),
    API_DECISION_KEY_FILE: text().optional(),
    ...service('CODEC', environment),
    CODEC_SERVER_HOST: text().prefault('127.0.0.1'),
    CODEC_SERVER_PORT: whole(PORT).prefault(String(DEFAULT_PORTS.codecServer)),
    CODEC_SERVER_UI_ORIGINS: list((origin) => checkOrigin(origin, environment)).prefault(
      isSandbox ? DEV_UI_ORIGINS : '',
    ),
    CODEC_NAMESPACES: list(checkNamespace).prefault(''),
    CODEC_ORIGIN_NAMESPACES: list(checkNamespace).prefault(''),
    CODEC_JWT_PERMISSIONS_CLAIM: text().prefault('permissions'),
    CODEC_PATH_ROLES: listFrom(CODEC_ROLES).optional(),
  };
}

type Table = ReturnType<typeof makeTable>;
export type VariableName = keyof Table;
export type VariableValue<N extends VariableName> = z.output<Table[N]>;

const tables = new Map<Environment, Table>();

export function findVariables(environment: Environment): Table {
  const table = tables.get(environment) ?? makeTable(environment);
  tables.set(environment, table);
  return table;
}
