/** For receivers of events: makes a typed event from a message with a valid signature. */
import { isRecord } from '../base/is-record.ts';
import { parseJson } from '../base/json-safety.ts';
import type { WebhookBodies } from '../messages/webhooks/events.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { Environment } from '../model/products.ts';
import { type SignatureFault, secretProblem, signatureFault } from './signature.ts';

/** The event that `credit-journey webhooks test` sends. It belongs to no run. */
interface Ping {
  type: 'ping';
  timestamp: string;
  data: { environment: Environment };
}

type WithId<Body> = Body extends unknown
  ? Body & {
      /** The header `webhook-id`. Delivery is at least once: answer an id that you have had with success. */
      id: string;
    }
  : never;

/**
 * An event as a receiver has it; `type` distinguishes them. Later versions may send further types and members, so a
 * `switch` needs a `default`.
 */
export type ReceivedEvent = WithId<WebhookBodies[keyof WebhookBodies] | Ping>;

/**
 * - `headersMissing`: a header `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing
 * - `signatureWrong`: none of the secrets has signed these bytes
 * - `tooOld`, `tooNew`: sent more than 5 minutes ago, or dated ahead; check the clock
 * - `bodyUnreadable`: signed, and no event
 */
export type WebhookEventErrorCode = SignatureFault | 'bodyUnreadable';

/** Thrown when a message must not be trusted: answer it with 400. Contains no part of the message. */
export class WebhookEventError extends CreditJourneyError {
  override readonly code: WebhookEventErrorCode;

  constructor(code: WebhookEventErrorCode) {
    super(MESSAGES[code]);
    this.code = code;
  }
}

const MESSAGES: Record<WebhookEventErrorCode, string> = {
  headersMissing: 'the message lacks a header: webhook-id, webhook-timestamp or webhook-signature',
  signatureWrong: 'none of the secrets has signed this: is the body as it came, before any parser?',
  tooOld: 'the message was sent more than 5 minutes ago',
  tooNew: 'the message is dated more than 5 minutes ahead',
  bodyUnreadable: 'the message is signed, and its body is no event',
};

type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies the signature of a message over its body, and returns the event.
 *
 * @param rawBody the text or bytes as they came. A body that a framework has parsed, and that is written again, has
 *   other bytes: in Express take `express.raw({ type: 'application/json' })`, in a fetch handler `await request.text()`
 * @param headers of the request: Node's `request.headers`, or a `Headers`
 * @param secret the endpoint's `whsec_…`; while it is rotated, the new one and the old one
 * @throws WebhookEventError for a message that is not to be believed; InvalidInputError for a secret or a body of
 *   another form
 */
export function constructEvent(
  rawBody: string | Uint8Array,
  headers: Headers | HeaderValues,
  secret: string | readonly string[],
): ReceivedEvent {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const rules = secrets.map(secretProblem);
  const problems = rules.flatMap((rule, at) =>
    rule ? [{ path: secrets === secret ? `/secret/${at}` : '/secret', rule }] : [],
  );
  if (secrets.length === 0) problems.push({ path: '/secret', rule: 'must be a secret, or a list of some' });
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    problems.push({ path: '/rawBody', rule: 'must be the text or bytes as they came, not what a parser made of them' });
  }
  if (problems.length > 0) throw new InvalidInputError(problems);
  const body = typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8');
  const signed = signedParts(headers);
  const fault = signatureFault(secrets, { ...signed, body });
  if (fault) throw new WebhookEventError(fault);
  const [event] = parseJson(body) ?? [];
  if (!isRecord(event) || typeof event.type !== 'string' || !isRecord(event.data)) {
    throw new WebhookEventError('bodyUnreadable');
  }
  // A type that this version does not know is not checked further: the worker that signed it has checked it.
  return { ...event, id: signed.id } as ReceivedEvent;
}

function signedParts(headers: Headers | HeaderValues): { id: string; sentAt: string; signature: string } {
  const given = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  const lower = new Map(Object.entries(given ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const text = (name: string) => {
    const value = lower.get(name);
    return typeof value === 'string' ? value : '';
  };
  return { id: text('webhook-id'), sentAt: text('webhook-timestamp'), signature: text('webhook-signature') };
}
