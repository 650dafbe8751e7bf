/** Signatures in the Standard Webhooks form, symmetric `v1`. Only this file uses the library. */
import { Webhook } from 'standardwebhooks';

const PREFIX = 'whsec_';
/** In bytes, as the specification says: a shorter secret can be guessed, a longer one adds nothing to SHA-256. */
const [MIN_BYTES, MAX_BYTES] = [24, 64];

/** The rule that a secret breaks, or `null`. */
export function checkWebhookSecret(secret: string): string | null {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  const bytes = Buffer.from(encoded, 'base64');
  const isRight = bytes.toString('base64') === encoded && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES;
  return isRight ? null : `must be ${PREFIX} and ${MIN_BYTES} to ${MAX_BYTES} random bytes in base 64`;
}

/** Returns the headers of one message, signed with each of the secrets. `body` is sent unchanged, to the byte. */
export function signHeaders(
  secrets: readonly string[],
  { id, body, sentAt }: { id: string; body: string; sentAt: Date },
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body)).join(' '),
  };
}
