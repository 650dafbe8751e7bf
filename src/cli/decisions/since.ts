import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { UsageError } from '../output/errors.ts';

/** `--since`: an instant, or how long ago. Returns RFC 3339. */
export function parseSince(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseDurationMs(text);
  if (durationMs !== null) return new Date(Date.now() - durationMs).toISOString();
  if (parseInstantMs(text) !== null) return text;
  throw new UsageError(
    '--since must be an instant (2026-01-31T14:00:00Z) or how long ago, in days and time (PT2H, P1DT12H)',
  );
}
