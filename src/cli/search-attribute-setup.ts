/** Registers the project's search attributes on a server. */
import type { Client } from '@temporalio/client';
import { isGrpcServiceError } from '@temporalio/client';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../model/search-attributes.ts';
import { UsageError } from './errors.ts';

export interface SearchAttributeSetup {
  /** Those that the server has now. */
  registered: SearchAttributeName[];
  /** Those that it has not, or has with another type. */
  missing: { name: SearchAttributeName; type: string }[];
  /** Why they could not be registered. */
  reason?: string;
}

/** `temporal.api.enums.v1.IndexedValueType` */
const INDEXED_VALUE_TYPES = { Keyword: 2, KeywordList: 7 } as const;

const GRPC_NOT_FOUND = 5;

const NAMES = Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[];

/** @throws UsageError where the server has no such namespace */
export async function requireNamespace({ workflowService, options }: Client): Promise<void> {
  const { namespace } = options;
  try {
    await workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (!isGrpcServiceError(error) || error.code !== GRPC_NOT_FOUND) throw error;
    throw new UsageError(
      `the server has no namespace ${namespace}: \`temporal operator namespace create --namespace ${namespace}\` ` +
        'makes it, or --namespace names another',
    );
  }
}

/** Registers what is missing; where the server does not allow it, says so instead of failing. */
export async function registerSearchAttributes(client: Client): Promise<SearchAttributeSetup> {
  const { namespace } = client.options;
  const operator = client.connection.operatorService;
  try {
    const before = await registeredOnes(client);
    const absent = NAMES.filter((name) => !before.includes(name));
    if (absent.length > 0) {
      const searchAttributes = Object.fromEntries(
        absent.map((name) => [name, INDEXED_VALUE_TYPES[SEARCH_ATTRIBUTES[name]]]),
      );
      await operator.addSearchAttributes({ namespace, searchAttributes });
    }
    return setupOf(await registeredOnes(client));
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    const registered = await registeredOnes(client).catch(() => []);
    return { ...setupOf(registered), reason: `The server refused to register them: ${error.details}.` };
  }
}

function setupOf(registered: SearchAttributeName[]): SearchAttributeSetup {
  const missing = NAMES.filter((name) => !registered.includes(name));
  return { registered, missing: missing.map((name) => ({ name, type: SEARCH_ATTRIBUTES[name] })) };
}

async function registeredOnes({ connection, options }: Client): Promise<SearchAttributeName[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: options.namespace });
  return NAMES.filter((name) => customAttributes?.[name] === INDEXED_VALUE_TYPES[SEARCH_ATTRIBUTES[name]]);
}
