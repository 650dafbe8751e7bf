/** Names and types of a delivery run's messages; their names are in histories and never change. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  AddressedEvent,
  ChooseEndpoint,
  ChosenEvents,
  WebhookDeliveryStatus,
} from '../../messages/webhooks/delivery.ts';

export const deliverEvents = defineSignal<[{ events: AddressedEvent[] }]>('deliverEvents');
export const resendWebhooks = defineUpdate<ChosenEvents, [ChooseEndpoint]>('resendWebhooks');
export const dropWebhooks = defineUpdate<ChosenEvents, [ChooseEndpoint]>('dropWebhooks');
export const webhookStatus = defineQuery<WebhookDeliveryStatus>('webhookStatus');
