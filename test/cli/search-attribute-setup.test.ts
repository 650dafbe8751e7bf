/** Search attributes: registered where the server allows it, else with the steps for who may. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSteps, isTemporalCloud } from '../../src/cli/output/search-attribute-setup.ts';
import { askSearchAttributes, registeredSearchAttributes } from '../../src/temporal/registered-search-attributes.ts';

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
  assert.deepEqual(await registeredSearchAttributes(services(new Error('UNIMPLEMENTED')), 'default')(), []);
});

test('Temporal Cloud takes them by tcld, another server by the Temporal command line', () => {
  for (const address of ['ns.acct.tmprl.cloud:7233', 'us-east-1.aws.api.temporal.io:7233']) {
    assert.ok(isTemporalCloud(address), address);
  }
  for (const address of ['127.0.0.1:7233', 'temporal.example.com:7233']) assert.ok(!isTemporalCloud(address), address);
  const missing = [
    { name: 'JourneyStage' as const, type: 'Keyword' },
    { name: 'CustomerTraceNumber' as const, type: 'KeywordList' },
  ];
  assert.deepEqual(describeSteps(missing, 'ns.acct', true), [
    'tcld login',
    'tcld namespace search-attributes add --namespace ns.acct --search-attribute "JourneyStage=Keyword" --search-attribute "CustomerTraceNumber=KeywordList"',
  ]);
  assert.deepEqual(describeSteps(missing.slice(0, 1), 'default', false), [
    'temporal operator search-attribute create --namespace default --name JourneyStage --type Keyword',
  ]);
});
