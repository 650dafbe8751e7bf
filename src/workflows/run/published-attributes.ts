/** A run's search attributes: upserted where they have changed and the server knows them. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';

/** `null` takes one away; what is left out stays as it was. */
export interface RunAttributes {
  NeedsAttention: string | null;
  WaitsFor: WaitsFor | null;
  JourneyStage?: string;
  EndUserCode?: string;
  GatewayProfile?: string;
  /** All that the run may pull for. An empty list is left alone. */
  EndUserCodes?: readonly string[];
  /** An empty list is left alone. */
  CustomerTraceNumber: string[];
}

const KEYWORDS = ['NeedsAttention', 'WaitsFor', 'JourneyStage', 'EndUserCode', 'GatewayProfile'] as const;

export type CarriedAttributes = Partial<Record<SearchAttributeName, string>>;

export class PublishedAttributes {
  /** Those that are registered on the server: upserting another would park the run for ever. */
  readonly #registered: () => readonly SearchAttributeName[];
  readonly #published: Map<SearchAttributeName, string>;

  /** @param past what the run before has published: the server hands it on */
  constructor(registered: () => readonly SearchAttributeName[], past: CarriedAttributes = {}) {
    this.#registered = registered;
    this.#published = new Map(Object.entries(past) as [SearchAttributeName, string][]);
  }

  get carried(): CarriedAttributes {
    return Object.fromEntries(this.#published);
  }

  /** @param passing left for the next upsert where nothing else is news: each costs an event, and the server a task */
  upsert(
    { CustomerTraceNumber, EndUserCodes = [], ...keywords }: RunAttributes,
    passing: readonly SearchAttributeName[] = [],
  ): void {
    const news: [name: SearchAttributeName, published: string | null, pair: SearchAttributeUpdatePair][] = [];
    for (const name of KEYWORDS) {
      const value = keywords[name];
      if (value === undefined || !this.#isNews(name, value)) continue;
      news.push([name, value, { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value }]);
    }
    const lists = [['CustomerTraceNumber', CustomerTraceNumber] as const, ['EndUserCodes', EndUserCodes] as const];
    for (const [name, list] of lists) {
      const known = list.length > 0 ? list.join(' ') : null;
      if (!this.#isNews(name, known)) continue;
      const key = defineSearchAttributeKey(name, SearchAttributeType.KEYWORD_LIST);
      news.push([name, known, { key, value: [...list] }]);
    }
    if (news.every(([name]) => passing.includes(name))) return;
    for (const [name, value] of news) {
      if (value === null) this.#published.delete(name);
      else this.#published.set(name, value);
    }
    upsertSearchAttributes(news.map(([, , pair]) => pair));
  }

  #isNews(name: SearchAttributeName, value: string | null): boolean {
    return this.#registered().includes(name) && (this.#published.get(name) ?? null) !== value;
  }
}
