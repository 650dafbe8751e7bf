/** The search attributes of DESIGN section 8: few, since they are billed and indexed. Nothing personal. */
export const SEARCH_ATTRIBUTES = {
  JourneyStage: 'Keyword',
  NeedsAttention: 'Keyword',
  EndUserCode: 'Keyword',
  CustomerTraceNumber: 'KeywordList',
} as const;
export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;
