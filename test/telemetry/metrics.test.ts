/** The metrics and their labels. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, type MetricMeter } from '@temporalio/common';
import type { Answer } from '../../src/model/inquiry.ts';
import { createPayloadCodec } from '../../src/protection/payloads/payload-codec.ts';
import { createActivityMetrics } from '../../src/telemetry/activity-metrics.ts';
import { METRICS, Metrics } from '../../src/telemetry/metrics.ts';
import { keyRing } from '../ledger/fixtures.ts';
import { aboveZero, recordMetrics } from './recorded-metrics.ts';

const COUNTERS = ['attempts', 'inquiries', 'webhooks'] as const;
const answered = (answer: Partial<Answer>) => async () => ({ kind: 'answered', answer });
const failed = (type: string, claimed: boolean) => async () => {
  throw ApplicationFailure.create({ type, details: [{ attempt: 1, claimed, recorded: true }] });
};
const inquiry = { productCode: 'PREQUAL' };
const decided = async () => ({ kind: 'recorded' });

const CASES: [string, string, object, () => Promise<unknown>, string[]][] = [
  [
    'an answer with an outcome',
    'submitInquiry',
    { inquiry },
    answered({ kind: 'outcome', outcome: 'noRecord' }),
    ['attempts PREQUAL answered', 'inquiries PREQUAL noRecord'],
  ],
  [
    'an answer that nobody understands',
    'submitInquiry',
    { inquiry },
    answered({ kind: 'returnCodeUnknown' }),
    ['attempts PREQUAL ReturnCodeUnknown'],
  ],
  [
    'an answer that is not to be trusted',
    'submitInquiry',
    { inquiry },
    answered({ kind: 'unexpectedResponse' }),
    ['attempts PREQUAL UnexpectedResponse'],
  ],
  ['an event that was delivered', 'deliverWebhook', {}, async () => ({ httpStatus: 204 }), ['webhooks delivered']],
  ['an event that was refused', 'deliverWebhook', {}, failed('WebhookRefused', false), ['webhooks WebhookRefused']],
  ['an outcome that the ledger already had', 'submitInquiry', { inquiry }, async () => ({ kind: 'latest' }), []],
  [
    'a failure after the claim',
    'submitInquiry',
    { inquiry },
    failed('Throttled', true),
    ['attempts PREQUAL Throttled'],
  ],
  ['a failure before any claim', 'submitInquiry', { inquiry }, failed('TokenUnavailable', false), []],
  [
    'an inquiry with an unknown product',
    'submitInquiry',
    { inquiry: { productCode: 'Zaphod' } },
    failed('Throttled', true),
    ['attempts other Throttled'],
  ],
  [
    'a decision to abandon',
    'recordDecision',
    { inquiry, decision: { action: 'abandon' } },
    decided,
    ['inquiries PREQUAL abandoned'],
  ],
  [
    'a decision to accept',
    'recordDecision',
    { inquiry, decision: { action: 'accept', answer: { kind: 'outcome', outcome: 'record' } } },
    decided,
    ['inquiries PREQUAL record'],
  ],
  ['a decision to try again', 'recordDecision', { inquiry, decision: { action: 'resend' } }, decided, []],
  [
    'a decision that was overtaken',
    'recordDecision',
    { inquiry, decision: { action: 'abandon' } },
    async () => ({ kind: 'overtaken' }),
    [],
  ],
  ['an activity of another kind', 'lookUpInquiry', { inquiry }, decided, []],
];

for (const [what, activityType, args, activity, expected] of CASES) {
  test(`${what} counts as ${expected.join(' and ') || 'nothing'}`, async () => {
    const { metrics, of } = recordMetrics();
    const { inbound } = createActivityMetrics(metrics)({ info: { activityType } } as Context);
    const input = { args: [args], headers: {} };
    await inbound?.execute?.(input, activity).catch((error: unknown) => assert.ok(error instanceof ApplicationFailure));
    const counted = COUNTERS.flatMap((key) =>
      Object.keys(aboveZero(of(key)) ?? {}).map((labels) => `${key} ${labels}`),
    );
    assert.deepEqual(counted, expected);
  });
}

test('a meter that throws causes no error', () => {
  const broken = () => {
    throw new Error('shut down');
  };
  const instrument = () => ({ add: broken, set: broken, record: broken });
  const meter = { createCounter: instrument, createGauge: instrument, createHistogram: instrument };
  const metrics = new Metrics(meter as unknown as MetricMeter);
  metrics.begin(['default']);
  metrics.put('unknownKey', 1, {});
});

test('the undecodable metric has the reason why a payload cannot be decoded', async () => {
  const { metrics, of } = recordMetrics();
  const codec = createPayloadCodec({
    keys: keyRing(),
    namespace: 'default',
    mode: 'worker',
    onUndecodable: (reason) => metrics.put('undecodable', 1, { reason }),
  });
  const encoding = (name: string) => ({ metadata: { encoding: Buffer.from(name) }, data: Buffer.from('Zaphod') });
  await codec.decode([encoding('json/plain'), encoding('binary/strange')]);
  assert.deepEqual(of('undecodable'), { foreignEncoding: 1, unparsable: 1 });
});

test('every metric has our prefix, its unit, a help text and a line in the documentation', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'metrics.md'), 'utf8');
  for (const { name, kind, help, labels } of Object.values(METRICS)) {
    assert.match(name, /^credit_journey_[a-z_]+$/);
    assert.equal(name.endsWith('_total'), kind === 'counter');
    assert.ok(help.length > 20);
    const shown = Object.keys(labels)
      .map((label) => `\`${label}\``)
      .join(', ');
    assert.ok(page.includes(`| \`${name}\` | ${kind} | ${shown}${shown && ' '}|`), name);
  }
});
