/** Search attributes: those that a server has. */
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

test('an attribute of another type counts as missing: upserting it would park the run', async () => {
  const server = services({ JourneyStage: TEXT, NeedsAttention: KEYWORD, CustomerTraceNumber: KEYWORD_LIST });
  assert.deepEqual(await askSearchAttributes(server, 'default'), ['NeedsAttention', 'CustomerTraceNumber']);
});

test('a server that keeps its operator service to itself is asked for the namespace’s aliases', async () => {
  const refused = new Error('PERMISSION_DENIED');
  const aliases = { Keyword01: 'JourneyStage', Text01: 'NeedsAttention', KeywordList01: 'CustomerTraceNumber' };
  assert.deepEqual(await askSearchAttributes(services(refused, aliases), 'ns.acct'), [
    'JourneyStage',
    'CustomerTraceNumber',
  ]);
  await assert.rejects(askSearchAttributes(services(refused), 'ns.acct'), refused);
});

test('a server that says nothing has none, and a run upserts none', async () => {
  assert.deepEqual(await listRegisteredSearchAttributes(services(new Error('UNIMPLEMENTED')), 'default')(), []);
});
