/** The wire name of the signal that ends a run's wait for a pause: the same for every kind of run. */
export const INQUIRIES_RESUMED = 'inquiriesResumed';
