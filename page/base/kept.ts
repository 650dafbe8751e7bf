/** What is kept in memory while the page is open, such as a decision half typed: until another person signs in. */
const kept: (() => void)[] = [];

export function keptWhileSignedIn<T>(): Map<string, T> {
  const map = new Map<string, T>();
  whenForgotten(() => map.clear());
  return map;
}

/** The next person may not be permitted to see it. */
export function whenForgotten(drop: () => void): void {
  kept.push(drop);
}

export function forget(): void {
  for (const drop of kept) drop();
}
