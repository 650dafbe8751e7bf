/**
 * The JSON Schemas that are published for other languages (`schemas/`, docs/integrating.md), made from the zod schemas
 * that the worker checks with. The worker may still refuse what a schema admits: rules that JSON Schema cannot express
 * are in `description`.
 */
import { z } from 'zod';
import { MESSAGES } from '../src/messages/all-messages.ts';
import { ANSWERS } from '../src/messages/answers.ts';
import { consent } from '../src/messages/consent.ts';
import { INPUTS } from '../src/messages/inputs/all-inputs.ts';
import { completeSchema } from '../src/messages/inputs/parse-message.ts';
import { invalidInputSchema, lateConsentResultSchema, updateRefusedSchema } from '../src/messages/journey/shapes.ts';
import type { Checked, Message } from '../src/messages/message.ts';
import { webhookEventSchema } from '../src/messages/webhooks/schemas.ts';
import { RUN_KINDS, type RunKind } from '../src/model/run-key.ts';

const APPLICANT_RULES =
  'At most as many applicants as the gateway profile allows (2 unless configured); no two with one applicantId or ssn; ' +
  'zip4, where given, agrees with a zip of nine digits.';

type JsonSchema = Record<string, unknown>;

interface Published {
  title: string;
  description: string;
  schema: z.ZodType;
}

function publish(title: string, { published, applicants, schema }: Checked): [string, Published][] {
  if (!published) return [];
  const { file, description, allOf } = published;
  const words = applicants ? `${description} ${APPLICANT_RULES}` : description;
  const form = completeSchema({ applicants }, schema);
  return [[file, { title, description: words, schema: allOf ? form.meta({ ...form.meta(), allOf }) : form }]];
}

function listNames(noun: string, names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length === 1 ? `${noun} ${last}` : `${noun}s ${names.slice(0, -1).join(', ')} and ${last}`;
}

function messageTitle({ to, updates, signals = {} }: Message): string {
  const sent = [listNames('update', Object.keys(updates)), ...Object.keys(signals).map((name) => `the signal ${name}`)];
  return `The ${sent.join(' and ')} of ${RUN_KINDS[to].join(' and ')}`;
}

/** The files of a journey's answers have no prefix, except its result. */
const PREFIXES = { journey: '', pull: 'pull-', share: 'share-report-', portfolio: 'portfolio-' };

const ANSWER_DESCRIPTIONS: Record<string, string> = {
  status: 'Nothing personal.',
  references: 'consumerId is personal.',
  'update-answer': 'The message was accepted, not that the gateway has answered.',
  'pull-result': 'consumerId is personal.',
  'lending-journey-result': 'consumerId is personal.',
  'share-report-result': 'Nothing personal.',
  'portfolio-result': 'Counts, and the names of files. Nothing personal.',
};

function publishAnswers(kind: RunKind, answers: Record<string, z.ZodType>): [string, Published][] {
  const workflows = RUN_KINDS[kind];
  return Object.entries(answers).map(([answer, schema]) => {
    const name = answer === 'update' ? 'update-answer' : answer;
    const file = answer === 'result' && kind === 'journey' ? 'lending-journey-result' : `${PREFIXES[kind]}${name}`;
    const title =
      answer === 'result'
        ? `Result of the ${listNames('workflow', workflows)}`
        : `Answer of ${answer === 'update' ? 'every update' : `the query ${answer}`} of ${workflows.join(' and ')}`;
    return [file, { title, description: ANSWER_DESCRIPTIONS[file] ?? ANSWER_DESCRIPTIONS[name] ?? '', schema }];
  });
}

const consentMessage = consent.schema().meta({ id: 'consent', allOf: consent.published.allOf });

/** By the name of the file in `schemas/`. */
const PUBLISHED: Record<string, Published> = {
  ...Object.fromEntries([
    ...Object.entries(INPUTS).flatMap(([workflow, input]) => publish(`Input of the workflow ${workflow}`, input)),
    ...Object.values<Message>(MESSAGES).flatMap((message) => publish(messageTitle(message), message)),
  ]),
  'record-late-consent-input': {
    title: 'Input of the workflow recordLateConsent',
    description: 'A consent, denial or revocation for a journey that has ended.',
    schema: z.strictObject({ consent: consentMessage }),
  },
  ...Object.fromEntries(Object.entries(ANSWERS).flatMap(([kind, answers]) => publishAnswers(kind as RunKind, answers))),
  'record-late-consent-result': {
    title: 'Result of the workflow recordLateConsent',
    description: 'The ledger has recorded the consent or refused it. Nothing was posted.',
    schema: lateConsentResultSchema,
  },
  'invalid-input': {
    title: 'details[0] of a failure with type InvalidInput',
    description: 'Everything that is wrong with an input: where, and the rule. Never a value.',
    schema: invalidInputSchema,
  },
  'webhook-event': {
    title: 'Body of a webhook',
    description:
      'What happened in a journey, a pull, a share by itself or a portfolio’s review. Nothing personal, and no report ' +
      'reference. The ' +
      'header webhook-id names the event: one that was had already is the same again.',
    schema: webhookEventSchema,
  },
  'update-refused': {
    title: 'details[0] of an update that failed with type UpdateRefused',
    description: 'Why the message was refused; the history does not have it.',
    schema: updateRefusedSchema,
  },
};

/** Every schema in JSON Schema 2020-12, by its file name without `.json`. Each is complete by itself. */
export function publishedSchemas(): Map<string, JsonSchema> {
  return new Map(Object.entries(PUBLISHED).map(([name, published]) => [name, documentOf(name, published)]));
}

function documentOf(name: string, { title, description, schema }: Published): JsonSchema {
  // `input`: the form before zip and state are normalized. Results stay open to more members.
  const {
    $schema,
    id,
    description: _,
    ...body
  } = z.toJSONSchema(schema, { io: 'input', override: withoutId }) as JsonSchema;
  return { $schema, $id: `urn:credit-journey:schema:${name}`, title, description, ...body };
}

/** Removes `$id`s: names of `$defs` are no addresses. */
function withoutId({ jsonSchema }: { jsonSchema: { id?: unknown } }): void {
  delete jsonSchema.id;
}
