/** Tests which search attributes a server has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  askSearchAttributes,
  listRegisteredSearchAttributes,
} from '../../src/temporal/registered-search-attributes.ts';

const KEYWORD = 2;
const KEYWORD_LIST = 7;
const TEXT = 1;

type Services = Parameters<typeof askSearchAttributes>[0];

function services(customAttributes: Record<string, number> | Error, aliases: Record<string, string> = {}): Services {
  return {
    operatorService: {
      listSearchAttributes: () =>
        customAttributes instanceof Error ? Promise.reject(customAttributes) : Promise.resolve({ customAttributes }),
    },
    workflowService: {
      describeNamespace: () => Promise.resolve({ config: { customSearchAttributeAliases: aliases } }),
    },
  } as unknown as Services;
}

test('a search attribute of another type counts as missing, since an upsert would block the run', async () => {
  const server = services({ JourneyStage: TEXT, NeedsAttention: KEYWORD, CustomerTraceNumber: KEYWORD_LIST });
  assert.deepEqual(await askSearchAttributes(server, 'default'), ['NeedsAttention', 'CustomerTraceNumber']);
});

test('the namespace’s aliases give the search attributes if the server refuses the operator service', async () => {
  const refused = new Error('PERMISSION_DENIED');
  const aliases = { Keyword01: 'JourneyStage', Text01: 'NeedsAttention', KeywordList01: 'CustomerTraceNumber' };
  assert.deepEqual(await askSearchAttributes(services(refused, aliases), 'ns.acct'), [
    'JourneyStage',
    'CustomerTraceNumber',
  ]);
  await assert.rejects(askSearchAttributes(services(refused), 'ns.acct'), refused);
});

test('a server that cannot list search attributes counts as having none', async () => {
  assert.deepEqual(await listRegisteredSearchAttributes(services(new Error('UNIMPLEMENTED')), 'default')(), []);
});
