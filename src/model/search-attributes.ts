/** The search attributes of docs/operating.md. Few, since servers bill and index them. Nothing personal. */
export const SEARCH_ATTRIBUTES = {
  JourneyStage: 'Keyword',
  NeedsAttention: 'Keyword',
  WaitsFor: 'Keyword',
  EndUserCode: 'Keyword',
  GatewayProfile: 'Keyword',
  EndUserCodes: 'KeywordList',
  CustomerTraceNumber: 'KeywordList',
} as const;
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;
export const SEARCH_ATTRIBUTE_NAMES = Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[];

export function listMissingSearchAttributes(registered: readonly string[]): SearchAttributeName[] {
  return SEARCH_ATTRIBUTE_NAMES.filter((name) => !registered.includes(name));
}

/** The waits of a run other than for an operator, as the search attribute `WaitsFor` and all lists name them. */
export const WAITS_FOR = ['gate', 'consents', 'gateway', 'pause', 'ledger', 'requests'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

export function isWaitsFor(text: unknown): text is WaitsFor {
  return WAITS_FOR.some((reason) => reason === text);
}
