/**
 * The endpoints for a profile's events: `webhooks` in the profiles file, and `WEBHOOK_*` for one endpoint of the
 * default profile. Secrets come from files alone, in every environment.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { PROFILE_NAME, text } from '../fields/fields.ts';
import type { WebhookSettings } from '../messages/webhooks/delivery.ts';
import type { WebhookEndpoint } from '../messages/webhooks/endpoint.ts';
import { WEBHOOK_EVENT_TYPES } from '../messages/webhooks/schemas.ts';
import type { Environment } from '../model/products.ts';
import { secretProblem } from '../webhooks/signature.ts';
import { type EnvironmentReader, errorCode } from './environment-reader.ts';
import { openFileProblem } from './private-file.ts';
import { readDuration } from './protocol.ts';

/** A limit on everything: each endpoint has a chain of its own for every journey. */
const MOST_ENDPOINTS = 10;
/** The old and the new secret during a rotation, and a third for a rotation that failed. */
const MOST_SECRETS = 3;

const DAY_MS = 24 * 3_600_000;

export const webhooksSchema = z
  .array(
    z.strictObject({
      name: z
        .string()
        .refine((name) => PROFILE_NAME.test(name), 'must be 1 to 31 lower-case letters, digits or dashes'),
      url: text(2_000),
      secretFile: text(4_096).exactOptional(),
      secretFiles: z.array(text(4_096)).min(1).max(MOST_SECRETS).exactOptional(),
      events: z.array(z.enum(WEBHOOK_EVENT_TYPES)).min(1).exactOptional(),
      allowPrivateAddresses: z.boolean().exactOptional(),
    }),
  )
  .max(MOST_ENDPOINTS);
export type DeclaredWebhooks = z.infer<typeof webhooksSchema>;

/** The endpoints of one profile. Their problems are reported under `variable` and `place`. */
export function webhookEndpoints(
  reader: EnvironmentReader,
  declared: DeclaredWebhooks,
  { environment, variable, place }: { environment: Environment; variable: string; place: string },
): WebhookEndpoint[] {
  const names = new Set<string>();
  return declared.map((one, index) => {
    const report = (field: string, rule: string) => reader.report(variable, `${place}/${index}/${field} ${rule}`);
    if (names.has(one.name)) report('name', 'must not be that of another endpoint of the profile');
    names.add(one.name);
    const wrong = webhookAddressProblem(one.url, environment);
    if (wrong) report('url', wrong);
    const files = [...(one.secretFile === undefined ? [] : [one.secretFile]), ...(one.secretFiles ?? [])];
    if ((one.secretFile === undefined) === (one.secretFiles === undefined)) {
      report('secretFile', 'is required, or secretFiles in its place');
    }
    for (const file of files) {
      const rule = secretFileProblem(file, environment);
      if (rule) report(one.secretFile === undefined ? 'secretFiles' : 'secretFile', rule);
    }
    return endpointOf(one, files);
  });
}

function endpointOf(
  one: Omit<DeclaredWebhooks[number], 'secretFile' | 'secretFiles'>,
  files: string[],
): WebhookEndpoint {
  return {
    name: one.name,
    url: one.url,
    readSecrets: () => Promise.all(files.map(async (file) => (await readFile(file, 'utf8')).trim())),
    ...(one.events === undefined ? {} : { events: one.events }),
    allowPrivateAddresses: one.allowPrivateAddresses ?? false,
  };
}

/** The one endpoint that variables can name: `default`, of the default profile. */
export function webhookFromEnvironment(reader: EnvironmentReader, environment: Environment): WebhookEndpoint[] {
  const url = reader.optional('WEBHOOK_URL');
  const files = listOf(reader.optional('WEBHOOK_SECRET_FILE'));
  const allows = reader.oneOf('WEBHOOK_ALLOW_PRIVATE_ADDRESSES', ['yes', 'no'], 'no') === 'yes';
  if (url === undefined) {
    if (files.length > 0) reader.report('WEBHOOK_URL', 'is required beside WEBHOOK_SECRET_FILE');
    return [];
  }
  const wrong = webhookAddressProblem(url, environment);
  if (wrong) reader.report('WEBHOOK_URL', wrong);
  if (files.length === 0 || files.length > MOST_SECRETS) {
    reader.report('WEBHOOK_SECRET_FILE', `must name 1 to ${MOST_SECRETS} files, with commas between`);
  }
  for (const file of files) {
    const rule = secretFileProblem(file, environment);
    if (rule) reader.report('WEBHOOK_SECRET_FILE', rule);
  }
  return [endpointOf({ name: 'default', url, allowPrivateAddresses: allows }, files)];
}

/** How long an event is tried and how long a failed one is kept, for every profile. */
export function readWebhookSettings(reader: EnvironmentReader): WebhookSettings {
  return {
    // A receiver that broke on a Friday evening is repaired by Monday.
    giveUpAfterMs: readDuration(reader, 'WEBHOOK_GIVE_UP_AFTER', 3 * DAY_MS),
    // As long as a gate waits: an operator who looks once a month still finds it.
    keepFailedForMs: 30 * DAY_MS,
  };
}

function listOf(value: string | undefined): string[] {
  return (value ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
}

/** The rule that an endpoint's address breaks, or `null`. The connector checks where its name leads. */
function webhookAddressProblem(address: string, environment: Environment): string | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'must be an http or https address';
  if (url.protocol !== 'https:' && environment !== 'sandbox') return 'must be https outside the sandbox';
  if (url.username || url.password) return 'must not hold credentials';
  return url.hash ? 'must not have a fragment' : null;
}

function secretFileProblem(path: string, environment: Environment): string | null {
  try {
    const secret = readFileSync(path, 'utf8').trim();
    return secretProblem(secret) ?? (environment === 'production' ? openFileProblem(path) : null);
  } catch (error) {
    return `must name a file that can be read (${errorCode(error)})`;
  }
}
