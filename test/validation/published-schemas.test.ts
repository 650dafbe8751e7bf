/** The published JSON schemas match the messages that the worker accepts and the answers that a run gives. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { z } from 'zod';
import { publishedSchemas } from '../../scripts/published-schemas.ts';
import { MESSAGES, QUERIES } from '../../src/messages/all-messages.ts';
import { parseMessage } from '../../src/messages/inputs/parse-message.ts';
import type { Message } from '../../src/messages/message.ts';
import type { WebhookBodies } from '../../src/messages/webhooks/events.ts';
import type * as webhookSchemas from '../../src/messages/webhooks/schemas.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import {
  aConsent,
  aDecision,
  aJourney,
  anApplicant,
  DEFINITIONS,
  FULL_APPLICANT,
  REFERENCE,
  SAMPLES,
  SHARE,
} from './sample-messages.ts';

const root = join(import.meta.dirname, '..', '..');
const published = publishedSchemas();

/** An event of a run, by its type. A published schema with other or more members does not compile. */
type Told = WebhookBodies[keyof WebhookBodies];
true satisfies Told extends z.infer<typeof webhookSchemas.webhookEventSchema> ? true : false;

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
addFormats.default(ajv);

function validator(name: string): ValidateFunction {
  const schema = published.get(name);
  assert.ok(schema, name);
  return ajv.getSchema(String(schema.$id)) ?? ajv.compile(schema);
}

/** Checks whether the worker accepts a value for the message of a published file. */
function isTaken(name: string, value: unknown): boolean {
  try {
    parseMessage(DEFINITIONS.get(name) ?? assert.fail(name), value);
    return true;
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, String(error));
    return false;
  }
}

/** Rules that JSON Schema cannot express. The description of the schema names them. */
const NAMED_RULES: [string, string, object][] = [
  ['lending-journey-input', 'Stages keep the order', aJourney({ stages: ['PREAPP', 'PREQUAL'] })],
  ['lending-journey-input', 'A gate is that of a stage', aJourney({ stages: ['PREQUAL'], gates: { PREAPP: {} } })],
  ['lending-journey-input', 'reportOf', aJourney({ stages: ['PREQUAL'], shares: [{ ...SHARE, reportOf: 'PREAPP' }] })],
  ['lending-journey-input', 'Shares differ in shareId', aJourney({ shares: [SHARE, SHARE] })],
  ['lending-journey-input', 'end user of its report', aJourney({ shares: [{ ...SHARE, endUserCode: 'EU123' }] })],
  ['lending-journey-input', 'endUserCodes', aJourney({ stages: ['PREQUAL'], endUserCodes: { PREAPP: 'EU1' } })],
  ['lending-journey-input', 'needs the stage', aJourney({ stages: ['PREQUAL'], attentionAbove: { newAccounts: 0 } })],
  ['lending-journey-input', 'no two with one', aJourney({ applicants: [anApplicant(), anApplicant()] })],
  [
    'lending-journey-input',
    'zip4, where given',
    aJourney({
      applicants: [{ ...anApplicant(), addresses: [{ ...FULL_APPLICANT.addresses[0], zip: '627010002' }] }],
    }),
  ],
  [
    'resolve-inquiry',
    'No two applicants of a reference',
    aDecision({
      action: 'accept',
      outcome: 'record',
      reference: { ...REFERENCE, applicants: [...REFERENCE.applicants, ...REFERENCE.applicants] },
    }),
  ],
  ['lending-journey-input', 'not in the future', aJourney({ applicants: [{ ...anApplicant(), dob: '2999-01-01' }] })],
  ['lending-journey-input', 'nothing that looks like', aJourney({ journeyId: 'J-900-11-0001' })],
  ['lending-journey-input', 'longer than zero', aJourney({ sharesOpenFor: 'P0D' })],
  ['lending-journey-input', 'at most P3650D', aJourney({ sharesOpenFor: 'P9999D' })],
];

describe('the published schemas', () => {
  it('are the files in schemas/ (else: npm run schemas)', () => {
    const files = readdirSync(join(root, 'schemas')).filter((file) => !file.endsWith('.openapi.json'));
    assert.deepEqual(files.sort(), [...published.keys()].map((name) => `${name}.json`).sort());
    for (const [name, schema] of published) {
      assert.deepEqual(JSON.parse(readFileSync(join(root, 'schemas', `${name}.json`), 'utf8')), schema, name);
    }
  });

  it('are valid JSON Schema 2020-12', () => {
    for (const name of published.keys()) validator(name);
  });

  it('have a sample here for each input and message', () => {
    const taken = [...published].filter(([, { title }]) => /^(Input of|The update|The signal)/.test(String(title)));
    assert.ok(taken.length > 10);
    // This input wraps a consent, and the worker reads no other member.
    const withoutSample = ['record-late-consent-input'];
    assert.deepEqual(taken.map(([name]) => name).sort(), [...Object.keys(SAMPLES), ...withoutSample].sort());
  });

  it('come with pages for callers that name every message and query of a journey', () => {
    const ofJourneys = Object.values<Message>(MESSAGES).filter(({ to }) => to === 'journey');
    const sent = ofJourneys.flatMap(({ updates, signals }) => Object.keys({ ...updates, ...signals }));
    const names = [...sent, ...Object.keys(QUERIES.journey)];
    assert.ok(names.length > 10);
    for (const page of ['journeys', 'integrating']) {
      const text = readFileSync(join(root, 'docs', `${page}.md`), 'utf8');
      const missing = names.filter((name) => !text.includes(`\`${name}\``));
      assert.deepEqual(missing, [], page);
    }
  });

  it('use portable patterns: no look-around, no Unicode classes, and of the shorthands only \\s', () => {
    const patterns = [...JSON.stringify([...published.values()]).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)];
    assert.ok(patterns.length > 50);
    for (const [, text] of patterns) {
      assert.doesNotMatch(JSON.parse(text as string) as string, /\\[dDwWbBpPuk]|\(\?[=!<]/);
    }
  });
});

describe('a published schema of an input', () => {
  for (const [name, samples] of Object.entries(SAMPLES)) {
    it(`agrees with the worker's validation: ${name}`, () => {
      const isValid = validator(name);
      for (const sample of samples) {
        assert.ok(isTaken(name, sample), name);
        assert.ok(isValid(sample), JSON.stringify(isValid.errors));
        for (const [path, changed] of changes(sample)) {
          const verdict = isValid(changed);
          assert.equal(verdict, isTaken(name, changed), `${name} ${path} ${JSON.stringify(isValid.errors)}`);
        }
      }
    });
  }

  it('accepts every form that the worker accepts', () => {
    const durations = ['P1D', 'PT1H', 'PT1M', 'PT1S', 'P1DT1S', 'P3650D', 'PT24H30M', 'P1DT2H3M4S', 'PT1H4S'];
    const addresses = ['::', '::1', 'fe80::1', '2001:db8::192.0.2.1', '::ffff:192.0.2.128', '1:2:3:4:5:6:7:8'];
    const instants = ['2024-02-29T23:59:59Z', '2026-01-02T03:04:05.123456789-23:59', '2026-01-02T03:04:05+14:00'];
    const address = { ...anApplicant().addresses[0], state: 'il' };
    const forms: [string, object][] = [
      ...durations.map((sharesOpenFor) => aJourney({ sharesOpenFor })),
      ...addresses.map((ipAddress) => aJourney({ applicants: [{ ...anApplicant(), ipAddress }] })),
      ...['627010001', '62701-0001'].map((zip) =>
        aJourney({ applicants: [{ ...anApplicant(), addresses: [{ ...address, zip }] }] }),
      ),
    ].map((input) => ['lending-journey-input', input]);
    for (const decidedAt of instants) forms.push(['consent', aConsent({ decidedAt })]);
    for (const [name, form] of forms) {
      const isValid = validator(name);
      assert.ok(isTaken(name, form), JSON.stringify(form));
      assert.ok(isValid(form), JSON.stringify([form, isValid.errors]));
    }
  });

  it('leaves to the worker only rules that its descriptions name', () => {
    for (const [name, words, input] of NAMED_RULES) {
      const isValid = validator(name);
      assert.equal(isTaken(name, input), false, words);
      assert.ok(isValid(input), `${words} ${JSON.stringify(isValid.errors)}`);
      assert.ok(JSON.stringify(published.get(name)).includes(words), words);
    }
  });
});

describe('a published schema of an answer', () => {
  it('accepts every answer in the recorded histories', () => {
    const counts = { event: 0, result: 0, answer: 0, refusedInput: 0, lateConsent: 0 };
    const directory = join(root, 'test', 'histories');
    for (const file of readdirSync(directory)) {
      const { events } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as { events: RecordedEvent[] };
      for (const event of events) {
        const [kind, name, value] = answerOf(event, file) ?? [];
        if (!kind || !name) continue;
        counts[kind] += 1;
        const isValid = validator(name);
        for (const one of kind === 'event' ? (value as unknown[]) : [value]) {
          assert.ok(isValid(one), `${file} ${name} ${JSON.stringify(isValid.errors)}`);
        }
      }
    }
    assert.ok(
      Object.values(counts).every((count) => count > 0),
      JSON.stringify(counts),
    );
  });
});

interface Payloads {
  payloads?: { data: string; metadata: { encoding: string } }[];
}

interface RecordedEvent {
  workflowExecutionSignaledEventAttributes?: { signalName: string; input?: Payloads };
  workflowExecutionCompletedEventAttributes?: { result?: Payloads };
  workflowExecutionFailedEventAttributes?: {
    failure?: { applicationFailureInfo?: { type?: string; details?: Payloads } };
  };
  workflowExecutionUpdateCompletedEventAttributes?: { outcome?: { success?: Payloads } };
}

type Kind = 'event' | 'result' | 'answer' | 'refusedInput' | 'lateConsent';

/** The schemas of a run's result and of its update answers, by the prefix of the history's file name. */
const ANSWERED_BY: readonly [file: string, result: string, answer: string][] = [
  ['webhookDelivery', '', ''],
  ['recordLateConsent', 'record-late-consent-result', ''],
  ['portfolioReview-', 'portfolio-result', 'portfolio-update-answer'],
  ['shareReport-', 'share-report-result', 'share-report-update-answer'],
  ['creditReport-', 'pull-result', 'pull-update-answer'],
  ['failsafeCheck-', 'pull-result', 'pull-update-answer'],
  ['', 'lending-journey-result', 'update-answer'],
];

function answerOf(event: RecordedEvent, file: string): [Kind, string, unknown] | undefined {
  const told = event.workflowExecutionSignaledEventAttributes;
  if (told?.signalName === 'deliverEvents') {
    const { events = [] } = (decodedOf(told.input) ?? {}) as { events?: Told[] };
    return ['event', 'webhook-event', events.map(({ type, timestamp, data }) => ({ type, timestamp, data }))];
  }
  const [, result = '', answer = ''] = ANSWERED_BY.find(([prefix]) => file.startsWith(prefix)) ?? [];
  const ended = decodedOf(event.workflowExecutionCompletedEventAttributes?.result);
  if (ended !== undefined && result) return [result.startsWith('record') ? 'lateConsent' : 'result', result, ended];
  const answered = decodedOf(event.workflowExecutionUpdateCompletedEventAttributes?.outcome?.success);
  if (answered !== undefined && answer) return ['answer', answer, answered];
  const failure = event.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo;
  const details = decodedOf(failure?.details);
  return failure?.type === 'InvalidInput' && details !== undefined
    ? ['refusedInput', 'invalid-input', details]
    : undefined;
}

/** Decodes a payload that was recorded in the clear. Returns `undefined` if it is encrypted. */
function decodedOf(payloads: Payloads | undefined): unknown {
  const [payload] = payloads?.payloads ?? [];
  if (!payload || Buffer.from(payload.metadata.encoding, 'base64').toString() !== 'json/plain') return undefined;
  return JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8'));
}

const WRONG: unknown[] = [
  ...[null, 5, -1, 1.5, true, [], {}, [[]]],
  ...['', '   ', 'bad\u0007bell', 'x'.repeat(9_000), 'Ünïcode', ' '],
];

/** Yields the value with each member omitted or replaced in turn, and with a member added to each object. */
function* changes(value: unknown, path = ''): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    yield [`${path}/-`, []];
  } else {
    yield [`${path}/surprise`, { ...value, surprise: 1 }];
  }
  for (const [key, member] of Object.entries(value)) {
    const withMember = (changed: unknown) =>
      Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
    if (!Array.isArray(value)) {
      const { [key]: _, ...rest } = value as Record<string, unknown>;
      yield [`${path}/${key} left out`, rest];
    }
    for (const wrong of WRONG)
      yield [`${path}/${key} = ${String(JSON.stringify(wrong)).slice(0, 20)}`, withMember(wrong)];
    for (const [where, changed] of changes(member, `${path}/${key}`)) yield [where, withMember(changed)];
  }
}
