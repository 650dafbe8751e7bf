/** An option of a bench's command line that takes one of a few words. */

/** @throws Error that names them */
export function oneOf<T extends string>(known: readonly T[], text: string, option: string): T {
  const found = known.find((one) => one === text);
  if (!found) throw new Error(`${option} knows ${known.join(', ')}`);
  return found;
}
