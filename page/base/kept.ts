/** What is kept in memory while the page is open, such as a decision half typed: until another person signs in. */
const kept: Map<string, unknown>[] = [];

export function keptWhileSignedIn<T>(): Map<string, T> {
  const map = new Map<string, T>();
  kept.push(map);
  return map;
}

export function forget(): void {
  for (const map of kept) map.clear();
}
