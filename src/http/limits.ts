/** Figures that bound an HTTP service. */
import type { SlotLimits } from './slots.ts';

export interface HttpLimits {
  bodyBytes: number;
  /** Open at once. Default 4,000: one page of a busy UI opens dozens; thousands are an attack, or a test. */
  connections?: number;
  /** Requests that are worked on at once, and those that wait for that. */
  work: SlotLimits;
  /** Bodies that are read, or have been read and wait for work, at once; and those that wait unread. */
  bodies: SlotLimits;
  /** For a body to have arrived whole, once it is read. */
  bodyTimeoutMs: number;
  /** Requests of one caller at once, then per second; the same of one address before it is known who it is. */
  burst: number;
  perSecond: number;
  /** For a request to have arrived whole. */
  requestTimeoutMs: number;
  /** Before a connection ends on which nothing moves, such as one whose reader has stopped. Default 90 s. */
  idleTimeoutMs?: number;
}
