/** Protobuf timestamps, as the SDK's raw services return them. */

interface Timestamp {
  seconds?: unknown;
  nanos?: number | null;
}

/** Milliseconds since the epoch; `null` where the timestamp is missing. */
export function millisecondsOf(timestamp: Timestamp | null | undefined): number | null {
  if (!timestamp || timestamp.seconds === undefined || timestamp.seconds === null) return null;
  return Number(timestamp.seconds) * 1000 + Math.floor((timestamp.nanos ?? 0) / 1_000_000);
}
