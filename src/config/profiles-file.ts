/**
 * `GATEWAY_PROFILES_FILE`: further gateway profiles, and what each allows. One file may serve every environment:
 * profiles of the others are not loaded, and still may not share a host with this one's.
 *
 *     {
 *       "credentials": { "east": { "clientIdFile": "…", "clientSecretFile": "…" } },
 *       "profiles": {
 *         "default": { "allowed": { "SECONDUSE": { "permissiblePurposeCodes": ["05"] } } },
 *         "east": { "environment": "uat", "customerId": "EAST0001", "credentials": "east" }
 *       }
 *     }
 *
 * What a profile leaves out is as in `default`, which itself comes from the `GATEWAY_*` variables.
 */
import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { ACCENTS } from '../fields/accents.ts';
import { alphanumeric } from '../fields/alphanumeric.ts';
import { messageFields, text } from '../fields/fields.ts';
import { parseWith } from '../fields/problems.ts';
import { SSNS_WITH_NINE } from '../gateway/made-up-applicants.ts';
import type { CredentialsSource, GatewayProfile } from '../gateway/profile.ts';
import type { WebhookEndpoint } from '../messages/webhooks/endpoint.ts';
import { InvalidInputError } from '../model/problems.ts';
import { ENVIRONMENTS, type Environment, PRODUCTS } from '../model/products.ts';
import { addressProblem, gatewayAddressProblem, hostOf, rehearsalAddressProblem } from './addresses.ts';
import { changesSchema } from './change-thresholds.ts';
import { apiVersionProblem, rehearsalProblem, ssnsWithNineProblem, timeZoneProblem } from './default-profile.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { type ConfiguredLimits, completeLimits, GATEWAY_LIMITS } from './limits.ts';
import { isPem } from './pem.ts';
import { credentialsSource } from './secrets.ts';
import { type DeclaredWebhooks, webhookEndpoints, webhooksSchema } from './webhook-settings.ts';

const VARIABLE = 'GATEWAY_PROFILES_FILE';

/** Problems name both, so that an operator can find them: limited in length, without line breaks. */
const CREDENTIALS_NAME = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);
/** The form that an answer may have (gateway/answers.ts). */
const RETURN_CODE = z.string().regex(/^[\x20-\x7e]{1,40}$/);

function checked(check: (value: string) => string | null) {
  return z.string().superRefine((value, context) => {
    const rule = check(value);
    if (rule) context.addIssue({ code: 'custom', message: rule });
  });
}

const limitsSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(GATEWAY_LIMITS).map(([name, { min, max }]) => [name, z.int().min(min).max(max).exactOptional()]),
  ),
);

const allowedSchema = z.partialRecord(
  z.enum(PRODUCTS),
  z.strictObject({
    endUserCodes: z.array(alphanumeric(16)).exactOptional(),
    permissiblePurposeCodes: z.array(alphanumeric(2)).exactOptional(),
  }),
);

const returnCodesSchema = z.partialRecord(
  // For SECONDUSE only `Record` means posted (docs/protocol.md): no code may be added.
  z.enum(PRODUCTS).exclude(['SECONDUSE']),
  z.record(RETURN_CODE, z.enum(['record', 'noRecord', 'noReport'])),
);

/** Nothing is sent there: only the form is checked. */
const formerAddress = checked((address) => addressProblem(address, 'sandbox'));

const formerlySchema = z
  .array(
    z.strictObject({
      ...{ authUrl: formerAddress, baseUrl: formerAddress },
      ...{ audience: text(200), apiVersion: checked(apiVersionProblem) },
    }),
  )
  .max(20);

const additionsShape = {
  allowed: allowedSchema.exactOptional(),
  formerly: formerlySchema.exactOptional(),
  returnCodes: returnCodesSchema.exactOptional(),
  webhooks: webhooksSchema.exactOptional(),
  changes: changesSchema.exactOptional(),
};

const profileSchema = z.strictObject({
  environment: z.enum(ENVIRONMENTS),
  customerId: alphanumeric(16),
  authUrl: z.string().exactOptional(),
  baseUrl: z.string().exactOptional(),
  apiVersion: checked(apiVersionProblem).exactOptional(),
  audience: text(200).exactOptional(),
  softwareProviderId: alphanumeric(4).exactOptional(),
  timeZone: checked(timeZoneProblem).exactOptional(),
  credentials: text(100).exactOptional(),
  caFile: text(4_096).exactOptional(),
  limits: limitsSchema.exactOptional(),
  notProcessedStatuses: z.array(z.int().min(400).max(599)).exactOptional(),
  ssnMismatch: z.enum(['hold', 'flag']).exactOptional(),
  ssnsWithNine: z.enum(SSNS_WITH_NINE).exactOptional(),
  rehearsal: z.boolean().exactOptional(),
  accents: z.enum(ACCENTS).exactOptional(),
  resendTraceNumber: z.enum(['same', 'new']).exactOptional(),
  originalInquiryDateSource: z.enum(['secondaryUse', 'originalRequest']).exactOptional(),
  consentTrust: z.enum(['namespace', 'proof']).exactOptional(),
  decisionTrust: z.enum(['namespace', 'proof']).exactOptional(),
  ...additionsShape,
});

const credentialsSchema = z.strictObject({
  clientIdFile: text(4_096).exactOptional(),
  clientIdVariable: text(200).exactOptional(),
  clientSecretFile: text(4_096).exactOptional(),
  clientSecretVariable: text(200).exactOptional(),
});

const fileSchema = z.strictObject({
  credentials: z.record(CREDENTIALS_NAME, credentialsSchema).exactOptional(),
  profiles: z.looseObject({ default: z.strictObject(additionsShape).exactOptional() }),
});

type FileProfile = z.infer<typeof profileSchema>;
type FileCredentials = z.infer<typeof credentialsSchema>;

/** All profiles by name, including `default`. Without a file, `default` alone. Problems go to the reader. */
export function readProfiles(reader: EnvironmentReader, base: GatewayProfile): Map<string, GatewayProfile> {
  const path = reader.optional(VARIABLE);
  const file = path === undefined ? undefined : parseFile(reader, path);
  if (!file) return new Map([['default', base]]);
  const { changes, webhooks, ...additions } = file.additions;
  const defaults: GatewayProfile = {
    ...base,
    ...additions,
    ...thresholds(base, changes),
    webhooks: defaultWebhooks(reader, base, webhooks ?? []),
  };
  const hosts = new Map<string, Environment>();
  noteHosts(reader, hosts, base.environment, { authUrl: base.authUrl, baseUrl: base.baseUrl }, 'GATEWAY_BASE_URL');
  const profiles = new Map([['default', defaults]]);
  const sources = new Map<string, CredentialsSource>([['default', base.credentials]]);
  for (const [name, profile] of file.profiles) {
    const place = `/profiles/${name}`;
    checkAddresses(reader, profile, place);
    const ssnRule = ssnsWithNineProblem(profile.ssnsWithNine, profile.environment);
    if (ssnRule) reader.report(VARIABLE, `${place}/ssnsWithNine ${ssnRule}`);
    const rehearsalRule = rehearsalProblem(profile.rehearsal, profile.environment);
    if (rehearsalRule) reader.report(VARIABLE, `${place}/rehearsal ${rehearsalRule}`);
    noteHosts(reader, hosts, profile.environment, profile, VARIABLE, place);
    if (profile.environment !== base.environment) continue;
    const source = credentialsOf(reader, profile, place, { sources, declared: file.credentials, base });
    profiles.set(name, merged(reader, defaults, { name, profile, place, source: source ?? base.credentials }));
  }
  return profiles;
}

/** The webhooks of the file, after the one that variables name. */
function defaultWebhooks(
  reader: EnvironmentReader,
  { environment, webhooks = [] }: GatewayProfile,
  declared: DeclaredWebhooks,
): WebhookEndpoint[] {
  const place = '/profiles/default/webhooks';
  const ofFile = webhookEndpoints(reader, declared, { environment, variable: VARIABLE, place });
  if (webhooks.some(({ name }) => declared.some((one) => one.name === name))) {
    reader.report(VARIABLE, `${place} must not name an endpoint default beside WEBHOOK_URL`);
  }
  return [...webhooks, ...ofFile];
}

interface ParsedFile {
  credentials: Record<string, FileCredentials>;
  additions: Pick<FileProfile, 'allowed' | 'formerly' | 'returnCodes' | 'changes' | 'webhooks'>;
  profiles: [string, FileProfile][];
}

function parseFile(reader: EnvironmentReader, path: string): ParsedFile | undefined {
  const content = reader.file(VARIABLE, path);
  if (content === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    // The parser's own message quotes the file.
    reader.report(VARIABLE, 'must name a file that holds JSON');
    return undefined;
  }
  const file = parsed(reader, fileSchema, value);
  if (!file) return undefined;
  const { default: additions = {}, ...others } = file.profiles;
  const profiles = Object.entries(others).flatMap(([name, entry]): [string, FileProfile][] => {
    if (!messageFields().profileName.safeParse(name).success) {
      reader.report(VARIABLE, '/profiles must have names of 1 to 31 lower-case letters, digits or dashes');
      return [];
    }
    const profile = parsed(reader, profileSchema, entry, `/profiles/${name}`);
    return profile ? [[name, profile]] : [];
  });
  return { credentials: file.credentials ?? {}, additions, profiles };
}

function parsed<T>(reader: EnvironmentReader, schema: z.ZodType<T>, value: unknown, place = ''): T | undefined {
  try {
    return parseWith(schema, value, place);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    for (const { path, rule } of error.problems) reader.report(VARIABLE, `${path || '/'} ${rule}`);
    return undefined;
  }
}

function checkAddresses(reader: EnvironmentReader, profile: FileProfile, place: string): void {
  for (const field of ['authUrl', 'baseUrl'] as const) {
    const rule = profile[field] === undefined ? null : gatewayAddressProblem(profile[field], profile.environment);
    if (rule) reader.report(VARIABLE, `${place}/${field} ${rule}`);
  }
}

/** If two environments share a host, one mistake is enough for an inquiry on a real person's file. */
function noteHosts(
  reader: EnvironmentReader,
  hosts: Map<string, Environment>,
  environment: Environment,
  addresses: { authUrl?: string | undefined; baseUrl?: string | undefined },
  variable: string,
  place = '',
): void {
  for (const field of ['authUrl', 'baseUrl'] as const) {
    const host = addresses[field] === undefined ? null : hostOf(addresses[field]);
    if (host === null) continue;
    const known = hosts.get(host);
    if (known !== undefined && known !== environment) {
      reader.report(variable, `${place}/${field} must not share its host with a profile of ${known}`);
    }
    hosts.set(host, environment);
  }
}

/** One source for each name, so that profiles with the same credentials share their tokens too. */
function credentialsOf(
  reader: EnvironmentReader,
  profile: FileProfile,
  place: string,
  known: {
    sources: Map<string, CredentialsSource>;
    declared: Record<string, FileCredentials>;
    base: GatewayProfile;
  },
): CredentialsSource | undefined {
  const name = profile.credentials ?? 'default';
  const source = known.sources.get(name);
  if (source) return source;
  const declared = Object.hasOwn(known.declared, name) ? known.declared[name] : undefined;
  if (!declared) {
    reader.report(VARIABLE, `${place}/credentials must be a name under /credentials, or default`);
    return undefined;
  }
  const inVariable = (variable: string | undefined) => (variable === undefined ? undefined : reader.optional(variable));
  const made = credentialsSource(reader, name, {
    clientId: {
      variable: VARIABLE,
      place: `/credentials/${name}/clientId `,
      value: inVariable(declared.clientIdVariable),
      file: declared.clientIdFile,
      fileOnly: false,
    },
    clientSecret: {
      variable: VARIABLE,
      place: `/credentials/${name}/clientSecret `,
      value: inVariable(declared.clientSecretVariable),
      file: declared.clientSecretFile,
      fileOnly: known.base.environment === 'production',
    },
  });
  known.sources.set(name, made);
  return made;
}

function merged(
  reader: EnvironmentReader,
  defaults: GatewayProfile,
  own: { name: string; profile: FileProfile; place: string; source: CredentialsSource },
): GatewayProfile {
  const { profile, place } = own;
  const caCertificate =
    profile.caFile === undefined ? defaults.caCertificate : reader.file(VARIABLE, profile.caFile, `${place}/caFile `);
  if (profile.caFile !== undefined && caCertificate !== undefined && !isPem(caCertificate)) {
    reader.report(VARIABLE, `${place}/caFile must name a file with a PEM certificate`);
  }
  const limits = completeLimits({ ...defaults.limits, ...(profile.limits as Partial<ConfiguredLimits> | undefined) });
  const rehearsal = profile.rehearsal ?? defaults.rehearsal;
  const { authUrl = defaults.authUrl, baseUrl = defaults.baseUrl } = profile;
  for (const [field, address] of Object.entries(rehearsal ? { authUrl, baseUrl } : {})) {
    const rule = rehearsalAddressProblem(address);
    if (rule && profile.environment === 'uat') reader.report(VARIABLE, `${place}/${field} ${rule}`);
  }
  return {
    ...defaults,
    name: own.name,
    environment: profile.environment,
    authUrl,
    baseUrl,
    ...defined({ rehearsal }),
    apiVersion: profile.apiVersion ?? defaults.apiVersion,
    audience: profile.audience ?? defaults.audience,
    customerId: profile.customerId,
    softwareProviderId: profile.softwareProviderId ?? defaults.softwareProviderId,
    timeZone: profile.timeZone ?? defaults.timeZone,
    credentials: own.source,
    ...(caCertificate === undefined ? {} : { caCertificate }),
    limits,
    notProcessedStatuses: profile.notProcessedStatuses ?? defaults.notProcessedStatuses,
    returnCodes: profile.returnCodes ?? defaults.returnCodes,
    ssnMismatch: profile.ssnMismatch ?? defaults.ssnMismatch,
    ssnsWithNine: profile.ssnsWithNine ?? defaults.ssnsWithNine,
    accents: profile.accents ?? defaults.accents,
    resendTraceNumber: profile.resendTraceNumber ?? defaults.resendTraceNumber,
    originalInquiryDateSource: profile.originalInquiryDateSource ?? defaults.originalInquiryDateSource,
    consentTrust: profile.consentTrust ?? defaults.consentTrust,
    decisionTrust: profile.decisionTrust ?? defaults.decisionTrust,
    ...thresholds(defaults, profile.changes),
    // The permissions of one customer say nothing about another's.
    allowed: profile.allowed ?? {},
    ...defined({ formerly: profile.formerly ?? defaults.formerly }),
    // One customer's events never go to another's endpoints either.
    webhooks: webhookEndpoints(reader, profile.webhooks ?? [], {
      environment: profile.environment,
      variable: VARIABLE,
      place: `${place}/webhooks`,
    }),
  };
}

/** What the file leaves out stays as it was; empty where neither says anything. */
function thresholds(base: GatewayProfile, own: FileProfile['changes']): Pick<GatewayProfile, 'changes'> {
  return { changes: { ...base.changes, ...(own as GatewayProfile['changes']) } };
}
