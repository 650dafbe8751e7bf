/** Whether a value is what JSON calls an object: no list, and not `null`. Pure. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
