/** The gateway profile `default`, from the `GATEWAY_*` variables. */
import { ACCENTS } from '../fields/accents.ts';
import { alphanumericProblem } from '../fields/alphanumeric.ts';
import { SSNS_WITH_NINE, type SsnsWithNine } from '../gateway/made-up-applicants.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { Environment } from '../model/products.ts';
import { gatewayAddressProblem, rehearsalAddressProblem } from './addresses.ts';
import { defaultChangeOptions } from './change-thresholds.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { readLimits } from './limits.ts';
import { isPem } from './pem.ts';
import { credentialsFromEnvironment } from './secrets.ts';
import { webhookFromEnvironment } from './webhook-settings.ts';

/** Where `credit-journey dev` and `credit-journey sandbox` listen by default. */
const SANDBOX_ADDRESS = 'http://127.0.0.1:7280';

export function readDefaultProfile(reader: EnvironmentReader, environment: Environment): GatewayProfile {
  const inSandbox = (value: string) => (environment === 'sandbox' ? value : undefined);
  const checkAddress = (value: string) => gatewayAddressProblem(value, environment);
  const caCertificate = readCaCertificate(reader);
  return {
    name: 'default',
    environment,
    authUrl: reader.text('GATEWAY_AUTH_URL', inSandbox(SANDBOX_ADDRESS), checkAddress),
    baseUrl: reader.text('GATEWAY_BASE_URL', inSandbox(SANDBOX_ADDRESS), checkAddress),
    apiVersion: reader.text('GATEWAY_API_VERSION', 'grs_v001', apiVersionProblem),
    // Interface 2.1: only the sample value is known.
    audience: reader.text('GATEWAY_AUDIENCE', 'servicegateway'),
    customerId: reader.text('GATEWAY_CUSTOMER_ID', inSandbox('SANDBOX0001'), (value) => alphanumericProblem(value, 16)),
    softwareProviderId: reader.text('GATEWAY_SOFTWARE_PROVIDER_ID', inSandbox('CJ01'), (value) =>
      alphanumericProblem(value, 4),
    ),
    timeZone: reader.text('GATEWAY_TIME_ZONE', inSandbox('UTC'), timeZoneProblem),
    credentials: credentialsFromEnvironment(reader, environment),
    ...(caCertificate === undefined ? {} : { caCertificate }),
    limits: readLimits(reader),
    notProcessedStatuses: readNotProcessedStatuses(reader),
    returnCodes: {},
    ssnMismatch: reader.oneOf('GATEWAY_SSN_MISMATCH', ['hold', 'flag'], 'hold'),
    ssnsWithNine: readSsnsWithNine(reader, environment),
    ...readRehearsal(reader, environment),
    accents: reader.oneOf('GATEWAY_ACCENTS', ACCENTS, 'refuse'),
    resendTraceNumber: reader.oneOf('GATEWAY_RESEND_TRACE_NUMBER', ['same', 'new'], 'same'),
    originalInquiryDateSource: reader.oneOf(
      'GATEWAY_ORIGINAL_INQUIRY_DATE_SOURCE',
      ['secondaryUse', 'originalRequest'],
      'secondaryUse',
    ),
    // Any sender with write access to the namespace could invent a consent. For real credit files that is not enough.
    consentTrust: reader.oneOf(
      'CONSENT_TRUST',
      ['namespace', 'proof'],
      environment === 'production' ? 'proof' : 'namespace',
    ),
    // By default a person may also decide in Temporal's UI, which cannot sign. An operator with a signing system sets
    // `proof`.
    decisionTrust: reader.oneOf('DECISION_TRUST', ['namespace', 'proof'], 'namespace'),
    changes: defaultChangeOptions(environment),
    allowed: {},
    webhooks: webhookFromEnvironment(reader, environment),
  };
}

function readSsnsWithNine(reader: EnvironmentReader, environment: Environment): SsnsWithNine {
  const variable = 'GATEWAY_SSNS_WITH_9';
  const value = reader.oneOf(variable, SSNS_WITH_NINE, 'refuse');
  const rule = ssnsWithNineProblem(value, environment);
  if (rule) reader.report(variable, rule);
  return value;
}

function readRehearsal(reader: EnvironmentReader, environment: Environment): Pick<GatewayProfile, 'rehearsal'> {
  const variable = 'GATEWAY_REHEARSAL';
  if (reader.oneOf(variable, ['off', 'on'], 'off') === 'off') return {};
  const rule = rehearsalProblem(true, environment);
  if (rule) reader.report(variable, rule);
  for (const address of ['GATEWAY_AUTH_URL', 'GATEWAY_BASE_URL']) {
    const problem = rehearsalAddressProblem(reader.optional(address) ?? '');
    if (problem && environment === 'uat') reader.report(address, problem);
  }
  return { rehearsal: true };
}

/** Rehearsals need sandboxes, and so does nothing in production. */
export function rehearsalProblem(value: boolean | undefined, environment: Environment): string | null {
  return value && environment === 'production' ? 'must be off in production: a rehearsal is for uat' : null;
}

/** Test persons belong to the provider's test environment. */
export function ssnsWithNineProblem(value: SsnsWithNine | undefined, environment: Environment): string | null {
  return value === 'send' && environment === 'production' ? 'must be refuse or itinOnly in production' : null;
}

export function apiVersionProblem(value: string): string | null {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(value) ? null : 'must be one part of a path, such as grs_v001';
}

export function timeZoneProblem(value: string): string | null {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: value });
    // An offset has no daylight saving time; the interface's times are those of a place.
    return /^[+-]/.test(value) ? 'must be an IANA name, not an offset' : null;
  } catch {
    return 'must be an IANA time zone, such as America/Chicago';
  }
}

function readCaCertificate(reader: EnvironmentReader): string | undefined {
  const path = reader.optional('GATEWAY_CA_FILE');
  if (path === undefined) return undefined;
  const pem = reader.file('GATEWAY_CA_FILE', path);
  if (pem !== undefined && !isPem(pem)) reader.report('GATEWAY_CA_FILE', 'must hold a PEM certificate');
  return pem;
}

/**
 * A standing decision (docs/protocol.md): statuses that mean "not processed". Set to an empty text: none. Only 4xx and
 * 5xx may be listed, since a success was processed by definition.
 */
function readNotProcessedStatuses(reader: EnvironmentReader): number[] {
  const variable = 'GATEWAY_NOT_PROCESSED_STATUSES';
  const value = reader.env[variable];
  if (value === undefined) return [401, 429];
  const parts = value.split(',').map((part) => part.trim());
  if (parts.length === 1 && (parts[0] === '' || parts[0] === 'none')) return [];
  if (!parts.every((part) => /^[45]\d\d$/.test(part))) {
    reader.report(variable, 'must be HTTP statuses from 400 to 599 with commas between, or empty');
    return [];
  }
  return [...new Set(parts.map(Number))];
}
