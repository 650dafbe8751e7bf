/** The queue on which `submitInquiry` of one profile waits for its turn: the only one with a rate limit (docs/operating.md). */
export function gatewayQueueOf(taskQueue: string, profile: string): string {
  return `${taskQueue}-gateway-${profile}`;
}

/** The queue on which `deliverWebhook` runs: endpoints that hang take no slot from a journey. */
export function webhookQueueOf(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}
