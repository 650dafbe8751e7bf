/**
 * Figures of the inquiry protocol. `prepareJourney` reads them from configuration and fixes them for a run.
 * Milliseconds.
 */
export interface ProtocolSettings {
  /** How long the run retries an inquiry before it becomes a hold. */
  giveUpAfterMs: number;
  backoffInitialMs: number;
  backoffMaxMs: number;
  /** The longest `Retry-After` that the run obeys. */
  retryAfterMaxMs: number;
  /** How long after its claim the worker may still begin to write an attempt. */
  sendByMs: number;
  /** How long after its claim an attempt of unknown outcome may still arrive. No `resend` is taken before. */
  resendAfterMs: number;
  /** Start-to-close of `submitInquiry`: above every HTTP time-out, with room to record the answer. */
  submitTimeoutMs: number;
  heartbeatTimeoutMs: number;
  /** The number of history events after which a run continues as a new one. */
  handOverAfterEvents: number;
}
