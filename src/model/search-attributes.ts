/** The search attributes of docs/operating.md: few, since they are billed and indexed. Nothing personal. */
export const SEARCH_ATTRIBUTES = {
  JourneyStage: 'Keyword',
  NeedsAttention: 'Keyword',
  EndUserCode: 'Keyword',
  CustomerTraceNumber: 'KeywordList',
} as const;
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;
