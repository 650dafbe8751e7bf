/**
 * The endpoints for a profile's events: `webhooks` in the profiles file, and `WEBHOOK_*` for one endpoint of the
 * default profile. Secrets come from files alone, in every environment.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { PROFILE_NAME, text } from '../fields/fields.ts';
import type { WebhookEndpoint } from '../messages/webhooks/delivery.ts';
import { WEBHOOK_EVENT_TYPES } from '../messages/webhooks/schemas.ts';
import type { Environment } from '../model/products.ts';
import { secretProblem } from '../webhooks/signature.ts';
import type { EnvironmentReader } from './environment.ts';
import { openFileProblem, webhookAddressProblem } from './rules.ts';
import { errorCode } from './variables.ts';

/** A limit on everything: each endpoint has a chain of its own for every journey. */
const MOST_ENDPOINTS = 10;
/** The old and the new secret during a rotation, and a third for a rotation that failed. */
const MOST_SECRETS = 3;

const NAME_RULE = 'must be 1 to 31 lower-case letters, digits or dashes';

export const webhooksSchema = z
  .array(
    z.strictObject({
      name: z.string().refine((name) => PROFILE_NAME.test(name), NAME_RULE),
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
  return declared.map(({ secretFile, secretFiles, ...endpoint }, index) => {
    const report = (field: string, rule: string | null) =>
      rule && reader.report(variable, `${place}/${index}/${field} ${rule}`);
    if (names.has(endpoint.name)) report('name', 'must not be that of another endpoint of the profile');
    names.add(endpoint.name);
    report('url', webhookAddressProblem(endpoint.url, environment));
    if ((secretFile === undefined) === (secretFiles === undefined)) {
      report('secretFile', 'is required, or secretFiles in its place');
    }
    const files = [...(secretFile === undefined ? [] : [secretFile]), ...(secretFiles ?? [])];
    const field = secretFile === undefined ? 'secretFiles' : 'secretFile';
    for (const file of files) report(field, secretFileProblem(file, environment));
    return toEndpoint(endpoint, files);
  });
}

function toEndpoint(
  { name, url, events, allowPrivateAddresses = false }: Omit<DeclaredWebhooks[number], 'secretFile' | 'secretFiles'>,
  files: string[],
): WebhookEndpoint {
  const readSecrets = () => Promise.all(files.map(async (file) => (await readFile(file, 'utf8')).trim()));
  return { name, url, readSecrets, allowPrivateAddresses, ...defined({ events }) };
}

/** The one endpoint that variables can name: `default`, of the default profile. */
export function webhookFromEnvironment(reader: EnvironmentReader): WebhookEndpoint[] {
  const files = reader.get('WEBHOOK_SECRET_FILE');
  const allowPrivateAddresses = reader.get('WEBHOOK_ALLOW_PRIVATE_ADDRESSES') === 'yes';
  const url = reader.get('WEBHOOK_URL') ?? '';
  if (reader.raw('WEBHOOK_URL') === undefined) {
    if (files.length > 0) reader.report('WEBHOOK_URL', 'is required beside WEBHOOK_SECRET_FILE');
    return [];
  }
  if (files.length === 0 || files.length > MOST_SECRETS) {
    reader.report('WEBHOOK_SECRET_FILE', `must name 1 to ${MOST_SECRETS} files, with commas between`);
  }
  for (const file of files) reader.report('WEBHOOK_SECRET_FILE', secretFileProblem(file, reader.environment));
  return [toEndpoint({ name: 'default', url, allowPrivateAddresses }, files)];
}

function secretFileProblem(path: string, environment: Environment): string | null {
  try {
    const secret = readFileSync(path, 'utf8').trim();
    return secretProblem(secret) ?? (environment === 'production' ? openFileProblem(path) : null);
  } catch (error) {
    return `must name a file that can be read (${errorCode(error)})`;
  }
}
