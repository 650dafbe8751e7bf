/** The queue that `submitInquiry` of one profile runs on: it alone is rate limited (ARCHITECTURE.md). */
export function gatewayQueueOf(taskQueue: string, profile: string): string {
  return `${taskQueue}-gateway-${profile}`;
}
