import type { OperatorService } from '@temporalio/client';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from './model/search-attributes.ts';

/** How long the server's answer is believed: attributes registered later are used within this time. */
const BELIEVED_FOR_MS = 60_000;

/**
 * Asks the server which of the project's search attributes are registered. A server that does not say (Temporal
 * Cloud has no operator service) counts as having none: upserting an unregistered one would park the run for ever.
 */
export function registeredSearchAttributes(
  operator: Pick<OperatorService, 'listSearchAttributes'>,
  namespace: string,
): () => Promise<SearchAttributeName[]> {
  let known: { names: SearchAttributeName[]; askedAtMs: number } | undefined;
  return async () => {
    if (known && performance.now() - known.askedAtMs < BELIEVED_FOR_MS) return known.names;
    const names = await ask(operator, namespace);
    known = { names, askedAtMs: performance.now() };
    return names;
  };
}

async function ask(
  operator: Pick<OperatorService, 'listSearchAttributes'>,
  namespace: string,
): Promise<SearchAttributeName[]> {
  try {
    const { customAttributes } = await operator.listSearchAttributes({ namespace });
    return (Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[]).filter((name) =>
      Object.hasOwn(customAttributes ?? {}, name),
    );
  } catch {
    return [];
  }
}
