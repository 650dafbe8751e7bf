/** Registers the project's search attributes on a server. */
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { hasStatus } from '../../client/connection/errors.ts';
import {
  listMissingSearchAttributes,
  SEARCH_ATTRIBUTES,
  type SearchAttributeName,
} from '../../model/search-attributes.ts';
import { askSearchAttributes, INDEXED_VALUE_TYPES } from '../../temporal/registered-search-attributes.ts';
import { UsageError } from './errors.ts';

/**
 * Registers the missing attributes. If the server does not allow it, reports that instead of failing.
 *
 * @throws UsageError where the server has no such namespace
 */
export async function registerSearchAttributes(client: Client) {
  const { connection, options, workflowService } = client;
  const { namespace } = options;
  await workflowService.describeNamespace({ namespace }).catch((error: unknown) => {
    if (!hasStatus(error, 'notFound')) throw error;
    throw new UsageError(
      `the server has no namespace ${namespace}: \`temporal operator namespace create --namespace ${namespace}\` ` +
        'makes it, or --namespace names another',
    );
  });
  const ask = () => askSearchAttributes(connection, namespace);
  let refusal: string | undefined;
  try {
    const unregistered = listMissingSearchAttributes(await ask());
    const types = unregistered.map((name) => [name, INDEXED_VALUE_TYPES[SEARCH_ATTRIBUTES[name]]]);
    const searchAttributes = Object.fromEntries(types);
    if (types.length > 0) await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    refusal = error.details.replace(/\.$/, '');
  }
  const registered = await ask().catch((error: unknown): SearchAttributeName[] => {
    if (refusal === undefined) throw error;
    return [];
  });
  const missing = listMissingSearchAttributes(registered);
  // The server reports success, and leaves an attribute of another type unchanged.
  const reason = refusal
    ? `The server refused to register them: ${refusal}. Register them by \`temporal operator search-attribute create\`, on Temporal Cloud by \`tcld\` (docs/deploy.md).`
    : 'The server has them with another type: another application uses them, or they were registered by mistake. Remove them by `temporal operator search-attribute remove`, and run `credit-journey setup` again.';
  return {
    registered,
    /** Attributes that the server lacks, or has with another type. */
    missing: missing.map((name) => ({ name, type: SEARCH_ATTRIBUTES[name] })),
    /** Why they could not be registered, and what an operator with the right to register them does. */
    reason: missing.length > 0 ? reason : undefined,
  };
}
