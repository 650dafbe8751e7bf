/** The queue that `submitInquiry` of one profile runs on: it alone is rate limited (ARCHITECTURE.md). */
export function gatewayQueueOf(taskQueue: string, profile: string): string {
  return `${taskQueue}-gateway-${profile}`;
}

/** The queue that `deliverWebhook` runs on: endpoints that hang take no slot from a journey. */
export function webhookQueueOf(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}
