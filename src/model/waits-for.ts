/** What a run waits for beside a person, as the search attribute `WaitsFor` and all lists have it. */
export const WAITS_FOR = ['gate', 'consents', 'gateway', 'pause', 'ledger', 'requests'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/** After "waits for". */
export const WAITS_WORDS: Readonly<Record<WaitsFor, string>> = {
  gate: 'a gate',
  consents: 'consent',
  gateway: 'the gateway',
  pause: 'the end of a pause',
  ledger: 'the ledger',
  requests: 'further shares or repeats',
};

export function isWaitsFor(text: unknown): text is WaitsFor {
  return WAITS_FOR.some((one) => one === text);
}
