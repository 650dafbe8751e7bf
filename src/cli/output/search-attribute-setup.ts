/** Registers the project's search attributes on a server. */
import { type Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../../model/search-attributes.ts';
import { askSearchAttributes, INDEXED_VALUE_TYPES } from '../../temporal/registered-search-attributes.ts';
import { UsageError } from './errors.ts';

export interface SearchAttributeSetup {
  registered: SearchAttributeName[];
  /** Attributes that the server lacks, or has with another type. */
  missing: { name: SearchAttributeName; type: string }[];
  /** Why they could not be registered. */
  reason?: string;
  /** Steps for an operator with the right to register them, a line each. */
  steps?: string[];
}

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

/** Registers the missing attributes. If the server does not allow it, reports that instead of failing. */
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
    const setup = toSetup(await registeredOnes(client));
    if (setup.missing.length === 0) return setup;
    // The server reports success, and leaves an attribute of another type unchanged.
    const removals = setup.missing.map(
      ({ name }) => `temporal operator search-attribute remove --namespace ${namespace} --name ${name}`,
    );
    const steps = [...removals, 'credit-journey setup'];
    return {
      ...setup,
      reason:
        'The server has them with another type: another application uses them, or they were registered by mistake.',
      steps,
    };
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    const setup = toSetup(await registeredOnes(client).catch(() => []));
    if (setup.missing.length === 0) return setup;
    const reason = `The server refused to register them: ${error.details.replace(/\.$/, '')}.`;
    return { ...setup, reason, steps: describeSteps(setup.missing, namespace, isTemporalCloud(readAddress(client))) };
  }
}

function toSetup(registered: SearchAttributeName[]): SearchAttributeSetup {
  const missing = NAMES.filter((name) => !registered.includes(name));
  return { registered, missing: missing.map((name) => ({ name, type: SEARCH_ATTRIBUTES[name] })) };
}

async function registeredOnes({ connection, options }: Client): Promise<SearchAttributeName[]> {
  return askSearchAttributes(connection, options.namespace);
}

function readAddress({ connection }: Client): string {
  return connection instanceof Connection ? connection.options.address : '';
}

/** Its namespaces are at `<namespace>.<account>.tmprl.cloud` or, with an API key, `<region>.<cloud>.api.temporal.io`. */
export function isTemporalCloud(address: string): boolean {
  const host = address.replace(/:\d+$/, '').toLowerCase();
  return host.endsWith('.tmprl.cloud') || host.endsWith('.api.temporal.io');
}

/** Temporal Cloud takes them through its control plane alone: its command line `tcld`, or its web pages. */
export function describeSteps(missing: SearchAttributeSetup['missing'], namespace: string, isCloud: boolean): string[] {
  if (!isCloud) {
    return missing.map(
      ({ name, type }) =>
        `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${type}`,
    );
  }
  return [
    'tcld login',
    `tcld namespace search-attributes add --namespace ${namespace} ${missing
      .map(({ name, type }) => `--search-attribute "${name}=${type}"`)
      .join(' ')}`,
  ];
}
