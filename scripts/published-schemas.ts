/**
 * The JSON Schemas that are published for other languages (`schemas/`, docs/integrating.md), made from the zod schemas
 * that the worker checks with. The worker may still refuse what a schema admits: rules that JSON Schema cannot express
 * are in `description`.
 */
import { z } from 'zod';
import { GATEWAY_LIMITS } from '../src/config/variables.ts';
import { applicantsSchema, failsafeApplicantsSchema } from '../src/fields/applicant-schemas.ts';
import { MESSAGES } from '../src/messages/all-messages.ts';
import { consent } from '../src/messages/consent.ts';
import { INPUTS } from '../src/messages/inputs/all-inputs.ts';
import {
  invalidInputSchema,
  journeyReferencesSchema,
  journeyResultSchema,
  journeyStatusSchema,
  lateConsentResultSchema,
  updateAnswerSchema,
  updateRefusedSchema,
} from '../src/messages/journey/shapes.ts';
import type { Checked, InputDefinition, Message } from '../src/messages/message.ts';
import {
  portfolioProgressSchema,
  portfolioResultSchema,
  portfolioStatusSchema,
  portfolioUpdateAnswerSchema,
} from '../src/messages/portfolio/shapes.ts';
import {
  pullReferencesSchema,
  pullResultSchema,
  pullStatusSchema,
  pullUpdateAnswerSchema,
} from '../src/messages/pull/shapes.ts';
import {
  shareReportReferencesSchema,
  shareReportResultSchema,
  shareReportStatusSchema,
  shareReportUpdateAnswerSchema,
} from '../src/messages/share/shapes.ts';
import { webhookEventSchema } from '../src/messages/webhooks/schemas.ts';
import { RUN_KINDS } from '../src/model/run-key.ts';

/** A profile's own limit is configuration. The published limit is the highest that can be configured. */
const TABLES = {
  report: applicantsSchema(GATEWAY_LIMITS.maxApplicants.max),
  failsafe: failsafeApplicantsSchema(GATEWAY_LIMITS.maxApplicants.max),
};

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
  const table = applicants && TABLES[applicants];
  const words = table ? `${description} ${APPLICANT_RULES}` : description;
  const form = schema(table as never);
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

const consentMessage = consent.schema().meta({ id: 'consent', allOf: consent.published.allOf });

/** By the name of the file in `schemas/`. */
const PUBLISHED: Record<string, Published> = {
  ...Object.fromEntries([
    ...Object.values<InputDefinition>(INPUTS).flatMap((input) =>
      publish(`Input of the ${listNames('workflow', input.workflows)}`, input),
    ),
    ...Object.values<Message>(MESSAGES).flatMap((message) => publish(messageTitle(message), message)),
  ]),
  'record-late-consent-input': {
    title: 'Input of the workflow recordLateConsent',
    description: 'A consent, denial or revocation for a journey that has ended.',
    schema: z.strictObject({ consent: consentMessage }),
  },
  'pull-result': {
    title: 'Result of the workflows creditReport and failsafeCheck',
    description: 'consumerId is personal.',
    schema: pullResultSchema,
  },
  'pull-status': {
    title: 'Answer of the query status of creditReport and failsafeCheck',
    description: 'Nothing personal.',
    schema: pullStatusSchema,
  },
  'pull-references': {
    title: 'Answer of the query references of creditReport and failsafeCheck',
    description: 'consumerId is personal.',
    schema: pullReferencesSchema,
  },
  'pull-update-answer': {
    title: 'Answer of every update of creditReport and failsafeCheck',
    description: 'The message was accepted, not that the gateway has answered.',
    schema: pullUpdateAnswerSchema,
  },
  'portfolio-result': {
    title: 'Result of the workflow portfolioReview',
    description: 'Counts, and the names of files. Nothing personal.',
    schema: portfolioResultSchema,
  },
  'portfolio-status': {
    title: 'Answer of the query status of portfolioReview',
    description: 'Nothing personal.',
    schema: portfolioStatusSchema,
  },
  'portfolio-progress': {
    title: 'Answer of the query progress of portfolioReview',
    description: 'Counts only.',
    schema: portfolioProgressSchema,
  },
  'portfolio-update-answer': {
    title: 'Answer of every update of portfolioReview',
    description: 'The message was accepted, not that the gateway has answered.',
    schema: portfolioUpdateAnswerSchema,
  },
  'share-report-result': {
    title: 'Result of the workflow shareReport',
    description: 'Nothing personal.',
    schema: shareReportResultSchema,
  },
  'share-report-status': {
    title: 'Answer of the query status of shareReport',
    description: 'Nothing personal.',
    schema: shareReportStatusSchema,
  },
  'share-report-references': {
    title: 'Answer of the query references of shareReport',
    description: 'consumerId is personal.',
    schema: shareReportReferencesSchema,
  },
  'share-report-update-answer': {
    title: 'Answer of every update of shareReport',
    description: 'The message was accepted, not that the gateway has answered.',
    schema: shareReportUpdateAnswerSchema,
  },
  'lending-journey-result': {
    title: 'Result of the workflow lendingJourney',
    description: 'consumerId is personal.',
    schema: journeyResultSchema,
  },
  status: { title: 'Answer of the query status', description: 'Nothing personal.', schema: journeyStatusSchema },
  references: {
    title: 'Answer of the query references',
    description: 'consumerId is personal.',
    schema: journeyReferencesSchema,
  },
  'update-answer': {
    title: 'Answer of every update',
    description: 'The message was accepted, not that the gateway has answered.',
    schema: updateAnswerSchema,
  },
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
