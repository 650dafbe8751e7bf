/** The current details of a delivery run, as Markdown for the Temporal UI. Pure. */

import type { EndpointStatus, WebhookDeliveryStatus } from '../../messages/webhooks/delivery.ts';
import { asMarkdown, codeBlock } from '../../words/writer.ts';

const { code, plain, time } = asMarkdown();

/** The query `webhookStatus` and the command line show the rest. */
const ENDPOINTS_SHOWN = 10;
const FAILED_SHOWN = 5;

/**
 * Nothing personal is in it.
 *
 * @param ownerId as the command line takes it
 * @param keptUntil when what was given up is forgotten
 */
export function deliveryDetails(
  { profile, endpoints }: WebhookDeliveryStatus,
  { ownerId, keptUntil }: { ownerId: string; keptUntil: string },
): string {
  const failed = endpoints.filter((endpoint) => endpoint.failed.length > 0);
  return [
    failed.length > 0
      ? `**Events were given up. They are kept until ${time(keptUntil)}, for a person who sends them again or drops them.**`
      : '**Events are being delivered. No person is needed.**',
    ...(failed.length > 0 ? [whatToDo(ownerId)] : []),
    [
      `Endpoints of the gateway profile ${code(profile)}:`,
      ...endpoints.slice(0, ENDPOINTS_SHOWN).map(endpointLine),
    ].join('\n\n'),
    ...failed.slice(0, ENDPOINTS_SHOWN).map(failedPart),
    'What each failure means: `docs/webhooks.md`, “What can go wrong”.',
  ].join('\n\n');
}

function whatToDo(ownerId: string): string {
  return [
    '### What resolves it',
    'Mend the endpoint first. Then in a shell (`drop` in place of `resend` forgets the events):',
    codeBlock(`credit-journey webhooks resend ${ownerId}`),
    'Here: _More Actions_, _Send an Update_, `resendWebhooks` (or `dropWebhooks`), with `{}` for all endpoints, or one:',
    codeBlock(JSON.stringify({ endpoint: '' })),
  ].join('\n\n');
}

function endpointLine({ endpoint, state, delivered, waiting, waitingSince, failed }: EndpointStatus): string {
  const since = waitingSince === undefined ? '' : ` since ${time(waitingSince)}`;
  return `- ${code(endpoint)}: ${state} · ${delivered} delivered · ${waiting} waiting${since} · ${failed.length} given up`;
}

function failedPart({ endpoint, failed }: EndpointStatus): string {
  const lines = failed.slice(0, FAILED_SHOWN).map(({ type, failureType, httpStatus, failedAt }) => {
    const answer = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
    return `- ${plain(type)}: ${failureType}${answer}, ${time(failedAt)}`;
  });
  const more = failed.length - lines.length;
  return [`### Given up for ${plain(endpoint)}`, lines.join('\n'), ...(more > 0 ? [`and ${more} more.`] : [])].join(
    '\n\n',
  );
}
