/** Payloads as the codec protocol has them: proto3 JSON, in which every `bytes` is base64. */
import { isUtf8 } from 'node:buffer';
import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { isRecord } from '../base/is-record.ts';
import { member, parseJson, surveyJson } from '../base/json-safety.ts';
import { findSchemaProblems } from '../fields/problems.ts';
import { toBytes } from '../protection/payloads/payload-codec.ts';
import { Refusal } from './refusal.ts';

/** Four levels are the protocol's own, a few more those of fields that came later. */
const MAX_BODY_DEPTH = 12;
const MAX_METADATA = 32;
/** Names that must not be given twice: two readers would see two payloads. */
const OUR_NAMES = new Set(['payloads', 'metadata', 'data', 'encoding']);

/** Both alphabets, with or without padding, as proto3 JSON takes them. */
const bytes = z.string('must be base64').regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'must be base64');

/** Checked as a whole: the path of a problem would name a member, which the sender makes up. */
const metadataSchema = z
  .custom<Record<string, string>>(
    (value) => isRecord(value) && Object.values(value).every((entry) => bytes.safeParse(entry).success),
    'must be an object whose members are base64',
  )
  .refine(
    (metadata) => Object.keys(metadata ?? {}).length <= MAX_METADATA,
    `must have at most ${MAX_METADATA} members`,
  );

const bodySchema = z.object({
  payloads: z.array(
    z.object({
      // In proto3 JSON null means that a field is not set.
      metadata: metadataSchema.nullish(),
      data: bytes.nullish(),
      /** Sizes of payloads that are stored elsewhere, passed on unchanged. */
      externalPayloads: z.unknown().optional(),
    }),
  ),
});

export interface PayloadJson {
  metadata: Record<string, string>;
  data: string;
  externalPayloads?: unknown;
}

/** @throws Refusal with every problem at once */
export function readPayloads(text: unknown, maxPayloads: number): { json: PayloadJson; payload: Payload }[] {
  const body = readJsonBody(text, MAX_BODY_DEPTH, OUR_NAMES);
  const entries = isRecord(body) ? member(body, 'payloads') : undefined;
  if (Array.isArray(entries) && entries.length > maxPayloads) {
    throw new Refusal('tooManyPayloads', `one request takes at most ${maxPayloads} payloads`);
  }
  const problems = findSchemaProblems(bodySchema, body).slice(0, 20);
  if (problems.length > 0) {
    throw new Refusal('malformed', 'the body must be {"payloads": [...]} in proto3 JSON', { problems });
  }
  return (body as z.infer<typeof bodySchema>).payloads.map(({ metadata, data, externalPayloads }) => {
    const json: PayloadJson = { metadata: metadata ?? {}, data: data ?? '' };
    if (externalPayloads !== undefined) json.externalPayloads = externalPayloads;
    const members = Object.entries(json.metadata).map(([name, text]) => [name, Buffer.from(text, 'base64')]);
    return { json, payload: { metadata: Object.fromEntries(members), data: Buffer.from(json.data, 'base64') } };
  });
}

/**
 * Parses a body, which two readers must not understand in two ways.
 *
 * @param names members that an object may not hold twice; default: any
 * @throws Refusal
 */
export function readJsonBody(text: unknown, maxDepth: number, names: ReadonlySet<string> = ANY_NAME): unknown {
  const parsed = typeof text === 'string' ? parseJson(text) : null;
  if (typeof text !== 'string' || parsed === null) throw new Refusal('notJson', 'the body must be JSON');
  const { depth, repeated } = surveyJson(text, names);
  if (depth > maxDepth) throw new Refusal('tooDeep', `the body must nest at most ${maxDepth} levels`);
  if (repeated.size === 0) return parsed[0];
  const members = names === ANY_NAME ? 'each member of an object' : [...repeated].join(', ');
  throw new Refusal('repeated', `the body must give ${members} once`);
}

/** A set of all names. */
const ANY_NAME = { has: () => true } as unknown as ReadonlySet<string>;

/** Always sets both members: the Temporal UI does not recognise a payload without them. */
export function toPayloadJson({ metadata, data }: Payload): PayloadJson {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, encodeBase64(bytes)] as const);
  return { metadata: Object.fromEntries(entries), data: encodeBase64(data) };
}

export function encodeJsonPayload(value: unknown): PayloadJson {
  return {
    metadata: { encoding: encodeBase64(Buffer.from('json/plain')) },
    data: encodeBase64(Buffer.from(JSON.stringify(value))),
  };
}

export function encodeBase64(bytes: Uint8Array | null | undefined): string {
  return toBytes(bytes).toString('base64');
}

/** The value in an array of one, or `null` where the bytes are not JSON in UTF-8. */
export function parseJsonValue(bytes: Uint8Array | null | undefined): [unknown] | null {
  const data = toBytes(bytes);
  return isUtf8(data) ? parseJson(data.toString('utf8')) : null;
}
