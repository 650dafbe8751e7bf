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
