/** The activities that make an attempt. */
export const ATTEMPT_TYPES: readonly string[] = ['beginJourney', 'submitInquiry'];

export function isAttempt(activityType: string | null | undefined): boolean {
  return ATTEMPT_TYPES.includes(activityType ?? '');
}
