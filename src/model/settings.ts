/** Figures of the inquiry protocol that `prepareJourney` reads from configuration and fixes for a run. Milliseconds. */
export interface ProtocolSettings {
  /** How long an inquiry is retried by itself before it becomes a hold. */
  giveUpAfterMs: number;
  backoffInitialMs: number;
  backoffMaxMs: number;
  /** The longest `Retry-After` that is obeyed. */
  retryAfterMaxMs: number;
  /** How long after its claim an attempt may still begin to be written. */
  sendByMs: number;
  /** How long after its claim an attempt of unknown outcome may still arrive: until then no `resend` is taken. */
  resendAfterMs: number;
  /** Start-to-close of `submitInquiry`: above every HTTP time-out, with room to record the answer. */
  submitTimeoutMs: number;
  heartbeatTimeoutMs: number;
  /** A run with so many events in its history hands over to a new one. */
  handOverAfterEvents: number;
}
