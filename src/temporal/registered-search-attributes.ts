/**
 * Reads which of the project's search attributes are registered on a server, under their names and with their types.
 */
import type { OperatorService, WorkflowService } from '@temporalio/client';
import { SEARCH_ATTRIBUTE_NAMES, SEARCH_ATTRIBUTES, type SearchAttributeName } from '../model/search-attributes.ts';

/** How long the server's answer is trusted: attributes that are registered later are used within this time. */
const BELIEVED_FOR_MS = 60_000;

/** `temporal.api.enums.v1.IndexedValueType` */
export const INDEXED_VALUE_TYPES = { Keyword: 2, KeywordList: 7 } as const;

interface SearchAttributeServices {
  operatorService: Pick<OperatorService, 'listSearchAttributes'>;
  workflowService: Pick<WorkflowService, 'describeNamespace'>;
}

/**
 * Asks the server which of the project's search attributes are registered. A server that does not answer counts as
 * having none. Upserting an unregistered attribute, or one of another type, would stop the run for ever.
 */
export function listRegisteredSearchAttributes(
  services: SearchAttributeServices,
  namespace: string,
): () => Promise<SearchAttributeName[]> {
  let known: { names: SearchAttributeName[]; askedAtMs: number } | undefined;
  return async () => {
    if (known && performance.now() - known.askedAtMs < BELIEVED_FOR_MS) return known.names;
    const names = await askSearchAttributes(services, namespace).catch(() => []);
    known = { names, askedAtMs: performance.now() };
    return names;
  };
}

/** @throws where the server does not answer */
export async function askSearchAttributes(
  { operatorService, workflowService }: SearchAttributeServices,
  namespace: string,
): Promise<SearchAttributeName[]> {
  try {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return SEARCH_ATTRIBUTE_NAMES.filter(
      (name) => customAttributes?.[name] === INDEXED_VALUE_TYPES[SEARCH_ATTRIBUTES[name]],
    );
  } catch (error) {
    // Temporal Cloud may restrict its operator service. The namespace then lists its aliases, such as `Keyword01:
    // "JourneyStage"`.
    const { config } = await workflowService.describeNamespace({ namespace });
    const aliases = Object.entries(config?.customSearchAttributeAliases ?? {});
    if (aliases.length === 0) throw error;
    return SEARCH_ATTRIBUTE_NAMES.filter((name) =>
      aliases.some(([field, alias]) => alias === name && field.replace(/\d+$/, '') === SEARCH_ATTRIBUTES[name]),
    );
  }
}
