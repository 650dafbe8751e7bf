/**
 * The gateway profiles: `default` from the `GATEWAY_*` variables, and those of `GATEWAY_PROFILES_FILE`, with what each
 * allows (docs/configuration.md shows a file). One file may serve every environment: profiles of the others are not
 * loaded, and still may not share a host with this one's. What a profile leaves out is as in `default`.
 */

import { z } from 'zod';
import { omitUndefined } from '../base/defined.ts';
import { alphanumeric } from '../fields/alphanumeric.ts';
import { changeOptionsSchema, DEFAULT_CHANGE_OPTIONS } from '../fields/change-options.ts';
import { profileName, text } from '../fields/fields.ts';
import { parseWith } from '../fields/problems.ts';
import type { CredentialsSource, GatewayLimits, GatewayProfile } from '../gateway/profile.ts';
import type { WebhookEndpoint } from '../messages/webhooks/delivery.ts';
import { WEBHOOK_EVENT_TYPES } from '../messages/webhooks/schemas.ts';
import { InvalidInputError } from '../model/problems.ts';
import { ENVIRONMENTS, type Environment, PRODUCTS } from '../model/products.ts';
import { checkWebhookSecret } from '../webhooks/signature.ts';
import { type EnvironmentReader, openSecret, openSecretFile, type SecretReader } from './environment.ts';
import { checkAddress, checkApiVersion, checkRehearsalAddress, checkWebhookAddress, findHost } from './rules.ts';
import { certificate, findVariables, GATEWAY_LIMITS, REHEARSAL_RULE, text as ruledText } from './variables.ts';

const VARIABLE = 'GATEWAY_PROFILES_FILE';

/** The settings of a profile that are one text: each has a variable, whose rules hold in the file too. */
const TEXTS = {
  authUrl: 'GATEWAY_AUTH_URL',
  baseUrl: 'GATEWAY_BASE_URL',
  apiVersion: 'GATEWAY_API_VERSION',
  audience: 'GATEWAY_AUDIENCE',
  customerId: 'GATEWAY_CUSTOMER_ID',
  softwareProviderId: 'GATEWAY_SOFTWARE_PROVIDER_ID',
  timeZone: 'GATEWAY_TIME_ZONE',
  ssnMismatch: 'GATEWAY_SSN_MISMATCH',
  ssnsWithNine: 'GATEWAY_SSNS_WITH_9',
  accents: 'GATEWAY_ACCENTS',
  resendTraceNumber: 'GATEWAY_RESEND_TRACE_NUMBER',
  originalInquiryDateSource: 'GATEWAY_ORIGINAL_INQUIRY_DATE_SOURCE',
  consentTrust: 'CONSENT_TRUST',
  decisionTrust: 'DECISION_TRUST',
} as const;
type Texts = Pick<GatewayProfile, keyof typeof TEXTS>;

/** The limits that an operator may set; the others follow from them. */
type ConfiguredLimits = Pick<GatewayLimits, keyof typeof GATEWAY_LIMITS>;

function completeLimits(limits: ConfiguredLimits): GatewayLimits {
  return {
    ...limits,
    // JSON compresses ten to one, a compression bomb a thousand to one.
    maxDecodedBytes: 4 * limits.maxResponseBytes,
    // Below what proxies and balancers allow. A request on a connection that the other side is closing ends with an
    // unknown outcome, while a new connection costs one round trip.
    keepAliveTimeoutMs: 4_000,
  };
}

/** The sandbox's own codes (sandbox/answers/moving-file.ts). The interface shows none (2.4). */
const SANDBOX_CLOSED_STATUS_CODES = ['13'];

/** Reads the profile `default` from the variables alone. */
function readDefaultProfile(reader: EnvironmentReader): GatewayProfile {
  const { environment } = reader;
  const texts = Object.entries(TEXTS).map(([field, variable]) => [field, reader.get(variable)]);
  const limits = Object.entries(GATEWAY_LIMITS).map(([field, { variable }]) => [field, reader.get(variable)]);
  const isRehearsal = reader.get('GATEWAY_REHEARSAL') === 'on';
  const profile: GatewayProfile = {
    ...(Object.fromEntries(texts) as Texts),
    name: 'default',
    environment,
    credentials: readDefaultCredentials(reader),
    limits: completeLimits(Object.fromEntries(limits) as ConfiguredLimits),
    notProcessedStatuses: reader.get('GATEWAY_NOT_PROCESSED_STATUSES'),
    returnCodes: {},
    changes:
      environment === 'sandbox'
        ? { ...DEFAULT_CHANGE_OPTIONS, closedStatusCodes: SANDBOX_CLOSED_STATUS_CODES }
        : DEFAULT_CHANGE_OPTIONS,
    allowed: {},
    webhooks: [],
    ...omitUndefined({ caCertificate: reader.get('GATEWAY_CA_FILE'), rehearsal: isRehearsal || undefined }),
  };
  checkRehearsal(profile, (field, rule) => reader.report(TEXTS[field], rule));
  return profile;
}

const ADDRESSES = ['authUrl', 'baseUrl'] as const;

/** Checks that a rehearsal goes to sandboxes: it sends only made-up applicants, and only a sandbox's answer counts. */
function checkRehearsal(
  profile: GatewayProfile,
  report: (field: (typeof ADDRESSES)[number], rule: string) => void,
): void {
  if (!profile.rehearsal || profile.environment !== 'uat') return;
  for (const field of ADDRESSES) {
    const rule = checkRehearsalAddress(profile[field]);
    if (rule) report(field, rule);
  }
}

function readDefaultCredentials(reader: EnvironmentReader): CredentialsSource {
  const open = (name: string, inSandbox: string, isSecret: boolean) => {
    const read = openSecret(reader, name, isSecret);
    if (!read && reader.environment !== 'sandbox') reader.report(name, 'is required, directly or as a file');
    return read ?? (async () => inSandbox);
  };
  // The provider sends the client id by plain e-mail (section 1): only the client secret is secret.
  const readId = open('GATEWAY_CLIENT_ID', 'sandbox-client', false);
  return createSource('default', readId, open('GATEWAY_CLIENT_SECRET', 'sandbox-secret', true));
}

function createSource(name: string, readId: SecretReader, readSecret: SecretReader): CredentialsSource {
  return { name, read: async () => ({ clientId: await readId(), clientSecret: await readSecret() }) };
}

/** Problems name both, so that an operator can find them: limited in length, without line breaks. */
const CREDENTIALS_NAME = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);
/** The form that an answer may have (gateway/answers.ts). */
const RETURN_CODE = z.string().regex(/^[\x20-\x7e]{1,40}$/);

const limitsSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(GATEWAY_LIMITS).map(([name, { min, max }]) => [name, z.int().min(min).max(max).optional()]),
  ),
);

const allowedSchema = z.partialRecord(
  z.enum(PRODUCTS),
  z.strictObject({
    endUserCodes: z.array(alphanumeric(16)).optional(),
    permissiblePurposeCodes: z.array(alphanumeric(2)).optional(),
  }),
);

const returnCodesSchema = z.partialRecord(
  // For SECONDUSE only `Record` means posted (docs/protocol.md): no code may be added.
  z.enum(PRODUCTS).exclude(['SECONDUSE']),
  z.record(RETURN_CODE, z.enum(['record', 'noRecord', 'noReport'])),
);

/** A former address, of which only the form is checked, since requests no longer go to it. */
const formerAddress = ruledText((address) => checkAddress(address, 'sandbox'));

const formerlySchema = z
  .array(
    z.strictObject({
      authUrl: formerAddress,
      baseUrl: formerAddress,
      audience: text(200),
      apiVersion: ruledText(checkApiVersion),
    }),
  )
  .max(20);

/** Limits the work, since each endpoint has a chain of its own for every journey. */
const MOST_ENDPOINTS = 10;
/** The old and the new secret during a rotation, and a third for a rotation that failed. */
const MOST_SECRETS = 3;

const webhooksSchema = z
  .array(
    z.strictObject({
      name: profileName,
      url: text(2_000),
      secretFiles: z.array(text(4_096)).min(1).max(MOST_SECRETS),
      events: z.array(z.enum(WEBHOOK_EVENT_TYPES)).min(1).optional(),
      allowPrivateAddresses: z.boolean().optional(),
    }),
  )
  .max(MOST_ENDPOINTS);
export type DeclaredWebhooks = z.infer<typeof webhooksSchema>;

const additionsShape = {
  allowed: allowedSchema.optional(),
  formerly: formerlySchema.optional(),
  returnCodes: returnCodesSchema.optional(),
  webhooks: webhooksSchema.optional(),
  changes: changeOptionsSchema.optional(),
};

const credentialsSchema = z.strictObject({ clientIdFile: text(4_096), clientSecretFile: text(4_096) });

const fileSchema = z.strictObject({
  credentials: z.record(CREDENTIALS_NAME, credentialsSchema).optional(),
  profiles: z.looseObject({ default: z.strictObject(additionsShape).optional() }),
});

/**
 * A profile of the file. The rules of its own environment hold for it.
 *
 * @param credentials the names that it may have; any for a profile that is not loaded
 */
function profileSchema(environment: Environment, credentials: readonly string[] | null) {
  const variables = findVariables(environment);
  const texts = Object.entries(TEXTS).map(([field, variable]) => {
    const schema = variables[variable];
    return [field, (schema instanceof z.ZodPrefault ? schema.unwrap() : schema).optional()];
  });
  const isPermitted = (isOn: boolean) => !isOn || environment !== 'production';
  return z.strictObject({
    ...(Object.fromEntries(texts) as { [K in keyof Texts]: z.ZodOptional<z.ZodType<Texts[K]>> }),
    environment: z.enum(ENVIRONMENTS),
    customerId: alphanumeric(16),
    credentials: ruledText((name) =>
      credentials?.includes(name) === false ? 'must be a name under /credentials, or default' : null,
    ).optional(),
    // Files of other environments need not be here.
    caFile: (credentials ? certificate() : text(4_096)).optional(),
    limits: limitsSchema.optional(),
    notProcessedStatuses: z.array(z.int().min(400).max(599)).optional(),
    rehearsal: z.boolean().refine(isPermitted, REHEARSAL_RULE).optional(),
    ...additionsShape,
  });
}

type FileProfile = z.infer<ReturnType<typeof profileSchema>>;
type File = z.infer<typeof fileSchema>;

/** Reads all profiles by name, including `default`. Without a file, `default` alone. Problems go to the reader. */
export function readProfiles(reader: EnvironmentReader): Map<string, GatewayProfile> {
  const base = readDefaultProfile(reader);
  const file = parseProfilesFile(reader);
  if (!file) return new Map([['default', base]]);
  const { default: additions = {}, ...others } = file.profiles;
  const { credentials: declared = {} } = file;
  const defaults = mergeProfile(reader, base, additions, '/profiles/default');
  const hosts = new Map<string, Environment>();
  noteHosts(hosts, base);
  const profiles = new Map([['default', defaults]]);
  const sources = new Map<string, CredentialsSource>([['default', base.credentials]]);
  for (const [name, profile] of parseProfiles(reader, others, Object.keys(declared))) {
    const place = `/profiles/${name}`;
    const report = (field: string, rule: string) => reader.report(VARIABLE, `${place}/${field} ${rule}`);
    noteHosts(hosts, profile, report);
    if (profile.environment !== base.environment) continue;
    const { credentials = 'default', caFile: caCertificate = base.caCertificate, ...settings } = profile;
    // Profiles with the same credentials read one source of them. Each has a token of its own.
    const source = sources.get(credentials) ?? openCredentials(reader, credentials, declared);
    sources.set(credentials, source);
    // The permissions of one customer say nothing about another's.
    const inherited = { ...defaults, name, credentials: source, caCertificate, allowed: {} };
    const merged = mergeProfile(reader, inherited, settings, place);
    checkRehearsal(merged, report);
    profiles.set(name, merged);
  }
  return profiles;
}

/** Adds the file's settings to the profile that it inherits from. */
function mergeProfile(
  reader: EnvironmentReader,
  inherited: GatewayProfile,
  { changes, limits, webhooks = [], ...settings }: Omit<Partial<FileProfile>, 'credentials' | 'caFile'>,
  place: string,
): GatewayProfile {
  return {
    ...inherited,
    ...settings,
    limits: completeLimits({ ...inherited.limits, ...(limits as Partial<ConfiguredLimits> | undefined) }),
    changes: { ...inherited.changes, ...changes },
    // One customer's events never go to another's endpoints.
    webhooks: readWebhookEndpoints(reader, webhooks, `${place}/webhooks`),
  };
}

/** Reads the file, and leaves the profiles in it unchecked. `undefined` without a file, or with one that is wrong. */
export function parseProfilesFile(reader: EnvironmentReader): File | undefined {
  const value = reader.get(VARIABLE);
  return value === undefined ? undefined : parsePart(reader, fileSchema, value);
}

function parseProfiles(
  reader: EnvironmentReader,
  entries: Record<string, unknown>,
  credentials: readonly string[],
): [string, FileProfile][] {
  return Object.entries(entries).flatMap(([name, entry]): [string, FileProfile][] => {
    if (!profileName.safeParse(name).success) {
      reader.report(VARIABLE, '/profiles must have names of 1 to 31 lower-case letters, digits or dashes');
      return [];
    }
    const { data } = z.looseObject({ environment: z.enum(ENVIRONMENTS) }).safeParse(entry);
    const environment = data?.environment ?? reader.environment;
    const schema = profileSchema(environment, environment === reader.environment ? ['default', ...credentials] : null);
    const profile = parsePart(reader, schema, entry, `/profiles/${name}`);
    return profile ? [[name, profile]] : [];
  });
}

function parsePart<T>(reader: EnvironmentReader, schema: z.ZodType<T>, value: unknown, place = ''): T | undefined {
  try {
    return parseWith(schema, value, place);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    for (const { path, rule } of error.problems) reader.report(VARIABLE, `${path || '/'} ${rule}`);
    return undefined;
  }
}

/** Notes the hosts. If two environments share one, a single mistake puts an inquiry on a real person's file. */
function noteHosts(
  hosts: Map<string, Environment>,
  profile: { environment: Environment; authUrl?: string; baseUrl?: string },
  report?: (field: string, rule: string) => void,
): void {
  for (const field of ADDRESSES) {
    const host = findHost(profile[field] ?? '');
    if (host === null) continue;
    const known = hosts.get(host) ?? profile.environment;
    if (known !== profile.environment) report?.(field, `must not share its host with a profile of ${known}`);
    hosts.set(host, profile.environment);
  }
}

function openCredentials(
  reader: EnvironmentReader,
  name: string,
  declared: NonNullable<File['credentials']>,
): CredentialsSource {
  const { clientIdFile = '', clientSecretFile = '' } = declared[name] ?? {};
  const open = (field: string, path: string, isSecret: boolean) =>
    openSecretFile(reader, VARIABLE, path, { place: `/credentials/${name}/${field} `, isSecret });
  return createSource(name, open('clientId', clientIdFile, false), open('clientSecret', clientSecretFile, true));
}

// The endpoints for a profile's events. Secrets come from files alone, in every environment.

/** Reads the endpoints of one profile. Their problems are reported under `place`. */
export function readWebhookEndpoints(
  reader: EnvironmentReader,
  declared: DeclaredWebhooks,
  place: string,
): WebhookEndpoint[] {
  const names = new Set<string>();
  return declared.map(({ secretFiles, allowPrivateAddresses = false, ...endpoint }, index) => {
    const report = (field: string, rule: string | null) =>
      rule && reader.report(VARIABLE, `${place}/${index}/${field} ${rule}`);
    if (names.has(endpoint.name)) report('name', 'must not be that of another endpoint of the profile');
    names.add(endpoint.name);
    report('url', checkWebhookAddress(endpoint.url, reader.environment));
    const readers = secretFiles.map((file) =>
      openSecretFile(reader, VARIABLE, file, { place: `${place}/${index}/secretFiles `, check: checkWebhookSecret }),
    );
    return { ...endpoint, allowPrivateAddresses, readSecrets: () => Promise.all(readers.map((read) => read())) };
  });
}
