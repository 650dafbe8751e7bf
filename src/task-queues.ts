/** The queue that `submitInquiry` of one profile runs on: it alone is rate limited (DESIGN section 9). */
export function gatewayQueueOf(taskQueue: string, profile: string): string {
  return `${taskQueue}-gateway-${profile}`;
}
