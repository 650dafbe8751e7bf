/**
 * Defines a message, or a workflow's input, as one object in one file. All else follows from that object: the type, the
 * checks outside and inside a run, the update ids, the words in the Temporal UI, the published JSON Schema, and whether
 * the message counts although it is not encrypted.
 *
 * Workflow bundles preload the definitions: their schemas are built once for a worker's thread and not for each run.
 * Preloaded exports are frozen, and a schema defines its methods when they are first used; so schemas leave no module but
 * through functions. Nothing here may depend on a run, a clock, Node or configuration.
 */
import { z } from 'zod';
import { isRecord } from '../base/is-record.ts';
import { findSchemaProblems } from '../fields/problems.ts';
import { formatProblem, type Problem } from '../model/problems.ts';
import { type MessageRefusal, refuse } from '../model/refusals.ts';
import { ID_NAMES, parseRunKey, RUN_NAMES, type RunKind } from '../model/run-key.ts';
import { describeUndecodable, isUndecodable } from '../model/undecodable.ts';

/** A value whose shape is not checked yet. */
export type Loose = Record<string, unknown>;

/** Builds the schema around one of `applicants`: workflow code passes one without the interface's table. */
type Form = (applicants: never) => z.ZodType;

/** Rules that the client, the API, the command line and activities check by (inputs/parse-message.ts). */
export interface Checked {
  /** `schemas/<file>.json`. Rules that JSON Schema cannot express are in the description. */
  published?: { file: string; description: string; allOf?: readonly object[] };
  /** The table that its applicants follow. */
  applicants?: 'report' | 'failsafe';
  schema: Form;
  /** If there are several forms, `chooseForm` picks the one that the sender means. Problems are about that form. */
  forms?: readonly Form[];
  chooseForm?: (value: Loose) => Form;
  /** The rules between fields. A rule stays silent where a field that it needs is malformed. */
  rules?: (value: Loose) => Problem[];
}

interface MessageDefinition extends Checked {
  to: RunKind;
  /** The member that names the run. Default: the one of its kind (model/run-key.ts). */
  address?: string;
  /** The purpose of each update, by its wire name. The Temporal UI shows it. Wire names are never changed. */
  updates: Readonly<Record<string, string>>;
  signals?: Readonly<Record<string, string>>;
  /** The business key: the subject. It is part of the update id, which is not encrypted. Default: the update's name. */
  key?: (message: never) => string;
  /**
   * Whether it counts although it came in the clear, where payloads are encrypted: it only stops something. Default: no.
   * A value with any further member does not count.
   */
  inTheClear?: (value: Loose) => boolean;
}

export type MessageOf<D extends Checked> = z.infer<ReturnType<D['schema']>>;

/** The run that receives a message: the caller's own id of it, which may be unchecked, and its run key. */
export interface NamedRun {
  id: string;
  runKey: string;
}

export type Message = ReturnType<typeof defineMessage<MessageDefinition>>;

/** Workflow code checks only this part of applicants. */
const APPLICANTS = z.array(z.looseObject({})).min(1);

/** The run, the person and the reason in the examples that the Temporal UI shows. */
export const SIGNATURE_EXAMPLES: Readonly<Record<RunKind, object>> = {
  journey: { journeyId: 'LOAN-1', by: 'ops', reason: 'the applicant has withdrawn' },
  pull: { pullId: 'PULL-1', by: 'ops', reason: 'asked for by mistake' },
  share: { shareId: 'S-1', by: 'ops', reason: 'asked for by mistake' },
  portfolio: { reviewId: 'REVIEW-1', by: 'ops', reason: 'the provider has asked for it' },
};

export function defineMessage<D extends MessageDefinition>(definition: D) {
  const { to, key, address = ID_NAMES[to], inTheClear } = definition;
  const findProblem = buildCheck(definition);
  const members = inTheClear && (definition.schema(APPLICANTS as never) as z.ZodObject).shape;
  return {
    ...definition,
    address,
    /**
     * Returns why the shape is refused, as a path and a rule without the value; or `null`. An activity checks applicants
     * against the table of fields.
     */
    findProblem,
    /** Returns why the run refuses the value as this message, or `null`. */
    check(run: NamedRun, value: unknown): MessageRefusal | null {
      const problem = findProblem(value);
      if (problem !== null) return refuse(isUndecodable(value) ? 'notNow' : 'invalidInput', problem);
      const id = address === ID_NAMES[to] ? run.id : run.runKey;
      if (id === (value as Loose)[address]) return null;
      const kind = address === 'journeyId' ? parseRunKey(String(id)).kind : to;
      return refuse('unknownPart', `/${address} names another ${RUN_NAMES[kind]}`);
    },
    toKey: (update: string, message: object) => key?.(message as never) ?? update,
    /** Whether a value of any shape counts although it came in the clear. */
    countsInTheClear: (value: Loose) =>
      members !== undefined &&
      Object.keys(value).every((name) => Object.hasOwn(members, name)) &&
      inTheClear?.(value) === true,
  };
}

/** Returns the form that a value has, or is meant to have, and the rules between its fields that it breaks. */
export function applyRules({ schema, forms = [schema], chooseForm, rules }: Checked, value: unknown) {
  const content = isRecord(value) ? value : undefined;
  return { form: (content ? chooseForm?.(content) : forms[0]) ?? schema, broken: (content && rules?.(content)) ?? [] };
}

/** The most problems that one refusal names. */
const MOST_SHOWN = 10;

/**
 * The longest message, in characters of JSON: several times what ten full applicants need. The run passes the message to
 * activities with other data, and Temporal refuses a task of more than 2 MB.
 */
const MOST_CHARACTERS = 200_000;

/**
 * The check for workflow code. Update validators run it: it may not wait, and leaves no trace in the history. A signal is
 * judged again on replay, and must then get the same verdict.
 */
function buildCheck(definition: MessageDefinition) {
  const { schema, forms = [schema] } = definition;
  const schemas = new Map(forms.map((form) => [form, form(APPLICANTS as never)]));
  return (value: unknown) => {
    if (isUndecodable(value)) return describeUndecodable(value);
    if ((JSON.stringify(value)?.length ?? 0) > MOST_CHARACTERS) {
      return `/ must have at most ${MOST_CHARACTERS} characters as JSON`;
    }
    const { form, broken } = applyRules(definition, value);
    const problems = [...findSchemaProblems(schemas.get(form) as z.ZodType, value), ...broken];
    return problems.length === 0 ? null : problems.slice(0, MOST_SHOWN).map(formatProblem).join('; ');
  };
}

/** JSON Schema: `conclusion` holds where `condition` does. */
export function implies(condition: object, conclusion: object, otherwise?: object): object {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: conclusion, ...(otherwise && { else: otherwise }) };
}

/** JSON Schema: the member is present, and has this value. */
export function hasValue(member: string, value: string): object {
  return { required: [member], properties: { [member]: { const: value } } };
}
