/** ISO 8601 durations in days and time only (`P30D`, `PT24H`, `P1DT12H`): months and years have no fixed length. */
const DURATION = /^P(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/;

/** Milliseconds, or `null` where the text is not such a duration or is zero. */
export function parseDurationMs(text: string): number | null {
  const match = DURATION.exec(text);
  if (!match || text.endsWith('T')) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ];
  const totalMs = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
  return totalMs > 0 ? totalMs : null;
}
