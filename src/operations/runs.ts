/**
 * Makes the operations that every kind of run has: to start it, list it, read it and send it messages. run-kinds.ts says
 * what differs.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../base/json-safety.ts';
import { hasCode } from '../client/connection/errors.ts';
import type { Run } from '../client/runs/run-handle.ts';
import { parseWith } from '../fields/problems.ts';
import { Refusal } from '../http/refusal.ts';
import { toCallerKey } from '../http/request-guard.ts';
import type { EndingMessage } from '../ledger/records.ts';
import { ANSWERS, type RunAnswers } from '../messages/answers.ts';
import { completeSchema, parseMessage } from '../messages/inputs/parse-message.ts';
import { acceptedSchema } from '../messages/journey/shapes.ts';
import { applyRules, type Checked, type Loose, type Message } from '../messages/message.ts';
import { InvalidInputError } from '../model/problems.ts';
import { ID_NAMES, KINDS, type RunKind, toRunKey } from '../model/run-key.ts';
import { WORK_CLASSES } from '../model/work-class.ts';
import { type AnswerForm, type Call, defineOperation, listPathParameters, type Operation, Reply } from './operation.ts';
import { refuseDifferent } from './problem.ts';
import { reaches, reachesAll } from './reach.ts';
import { listedRunSchema, listQuery, listRuns, readRun, runListSchema } from './run-list.ts';
import type { Scope } from './scopes.ts';

/** @typeParam Input of a start, once it is checked */
export interface KindOfRun<Input extends object> {
  kind: RunKind;
  path: `/v1/${string}`;
  /** For the names of operations: `getPull`, `listPulls`. */
  name: string;
  /** For sentences. */
  words: readonly [singular: string, plural: string];
  /** The scope that a token needs to list and read these runs. */
  reads: Scope;
  /** The answer has the members of the schema alone: a result may hold personal data. */
  result: { schema: z.ZodObject; description?: string };
  start: {
    summary: string;
    description: string;
    scope: Scope;
    body: z.ZodType;
    /** Whether the start may set a work class, by which its work yields to other runs. */
    hasWorkClass?: true;
    findDefinition(content: Loose): Checked;
    /** Refuses what the token may not ask for. */
    check?(call: Call, input: Input): void;
    /** Checks the other needs of the start. Not called if the run exists already. */
    require?(call: Call, input: Input): Promise<void>;
  };
  messages: readonly RunMessage[];
}

const LAGS = 'The answer comes from Temporal’s visibility, which may lag by a second.';

/** Returns the operations that start, list and read runs of one kind, and those of its messages. */
export function createRunOperations<Input extends object>(kindOfRun: KindOfRun<Input>): readonly Operation[] {
  const { kind, path, name, words, reads, result, start, messages } = kindOfRun;
  const [singular, many] = words;
  const ofRun = `${path}/{${ID_NAMES[kind]}}` as const;
  const findRun = ({ services, params }: Call): Run<RunKind> =>
    services.journeys.run(toRunKey(kind, params[ID_NAMES[kind]] as string));
  return [
    defineOperation({
      at: `POST ${path}`,
      operationId: `start${name}`,
      scope: start.scope,
      body: start.body as z.ZodType<JsonObject>,
      summary: start.summary,
      description: start.description,
      findDefinition: start.findDefinition,
      query: start.hasWorkClass
        ? z.strictObject({
            workClass: z
              .enum(WORK_CLASSES)
              .optional()
              .describe(
                '`batch` work gives way to `interactive` work (the default) where both wait for the gateway’s limit.',
              ),
          })
        : undefined,
      answers: describeStartAnswers(ID_NAMES[kind], `started${name}`),
      problems: {
        409: 'The id is taken: `differs` names the paths that differ, `idTaken` reveals nothing about a run that the token does not reach.',
      },
      run: (call) => startRun(kindOfRun, call),
    }),
    defineOperation({
      at: `GET ${path}`,
      operationId: `list${name}s`,
      scope: reads,
      query: listQuery,
      summary: `List ${many}: open ones first, then those that ended last`,
      description: LAGS,
      answer: runListSchema,
      run: (call) => listRuns(call, kind),
    }),
    defineOperation({
      at: `GET ${ofRun}`,
      operationId: `get${name}`,
      scope: reads,
      summary: `Read the status of ${singular}`,
      description: 'The status contains nothing personal.',
      headers: {
        'If-None-Match': 'An ETag: the answer is 304 while the status is unchanged.',
        Prefer: `\`wait=<seconds>\`, at most ${LONGEST_WAIT_SECONDS}: with If-None-Match, waits for the status to change.`,
      },
      answers: {
        200: {
          description: 'The status.',
          schema: ANSWERS[kind].status,
          headers: { ETag: 'The version of this status.' },
        },
        304: { description: 'The status is still the one that If-None-Match names.' },
      },
      run: (call) => statusReply(call, findRun(call)),
    }),
    defineOperation({
      at: `GET ${ofRun}/result`,
      operationId: `get${name}Result`,
      scope: reads,
      summary: `Read the result of ${singular}`,
      description: result.description,
      answer: result.schema,
      done: 'It has ended.',
      problems: {
        409: '`resultNotReady`: the run has not ended yet. `runFailed`: the run ended without a result; `problems` says what was wrong with its input.',
      },
      run: async (call: Call) => result.schema.parse(await readResult(call, findRun(call))),
    }),
    ...messages.map((message) => createMessageOperation(kindOfRun, message)),
  ];
}

/** The run has ended, so its result is only read. */
const RESULT_TIMEOUT_MS = 10_000;

/** @throws Refusal 404, 409; CallError */
export async function readResult<Kind extends RunKind>(
  { services, sending: { signal } }: Pick<Call, 'services' | 'sending'>,
  run: Run<Kind>,
): Promise<RunAnswers[Kind]['result']> {
  if ((await readRun(services.client, run.runKey)).run === 'running') throw new Refusal('resultNotReady');
  try {
    return await run.result({ signal, timeoutMs: RESULT_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    // The run's input was wrong, not this request.
    const { problems } = error;
    throw new Refusal('runFailed', 'the run has ended: its input was refused', { problems });
  }
}

export const allRunsOperations: readonly Operation[] = [
  defineOperation({
    at: 'GET /v1/runs',
    operationId: 'listRuns',
    summary: 'List runs of every kind: open ones first, then those that ended last',
    description: LAGS,
    scope: 'holds:read',
    query: listQuery.extend({ kind: z.enum(KINDS).optional().describe('Only of this kind.') }),
    answer: runListSchema,
    run: (call) => listRuns(call, call.query.kind),
  }),
];

function describeStartAnswers(idName: string, id: string): Record<200 | 201, AnswerForm> {
  const isNew = z.boolean().describe('`false`: the run was started before, with the same input.');
  const schema = z.object({ [idName]: z.string(), isNew, ...listedRunSchema.shape }).meta({ id });
  const headers = { Location: 'The address of its status.' };
  return {
    201: { description: 'The run was started.', schema, headers },
    200: { description: 'The run was started before, with the same input. It may have ended.', schema, headers },
  };
}

/**
 * Starts a run within the caller's reach.
 *
 * @throws Refusal 403 for a run that the token does not reach; 409 where the id is taken, with the paths that differ for
 *   a run that it reaches
 * @throws InvalidInputError where the API knows the profiles, and none has this name
 */
async function startRun<Input extends object>({ kind, path, start }: KindOfRun<Input>, call: Call): Promise<Reply> {
  const { caller, services, note } = call;
  const input = parseMessage(start.findDefinition(call.body), call.body) as Input;
  start.check?.(call, input);
  const { productCode, profile = 'default', ...members } = input as Record<string, string | undefined>;
  const id = members[ID_NAMES[kind]] as string;
  const runKey = toRunKey(kind, id);
  note({ journeyId: runKey, productCode });
  if (!reachesAll(caller) && !reaches(caller, await services.findInputReach(kind, input))) throw new Refusal('reach');
  const lacksProfile = services.profiles?.includes(profile) === false;
  const requireUsableId = async () => {
    if (reachesAll(caller) && !start.require && !lacksProfile) return;
    const reachOfPresentRun = await services.findRequiredReach(runKey);
    if (reachOfPresentRun && !reaches(caller, reachOfPresentRun)) throw new Refusal('idTaken');
    if (reachOfPresentRun) return;
    // The names of other profiles are not for every caller.
    if (lacksProfile) throw new InvalidInputError([{ path: '/profile', rule: 'must be a configured gateway profile' }]);
    await start.require?.(call, input);
  };
  // Before the send too: Temporal would take the id of a failed run again, also that of another caller.
  await requireUsableId();
  try {
    const { isNew } = await services.journeys.start(input as never, { ...call.sending, ...(call.query as object) });
    const run = await readRun(services.client, runKey);
    const headers = { location: `${path}/${id}` };
    return new Reply(isNew ? 201 : 200, { body: { [ID_NAMES[kind]]: id, isNew, ...run }, headers });
  } catch (error) {
    // Another caller may have been faster.
    if (hasCode(error, 'differs')) await requireUsableId();
    throw error;
  }
}

/** The answer does not tell the run's state: the status does, and it takes a separate scope. */
const messageAnswerSchema = z.object(acceptedSchema.shape).meta({ id: 'messageAnswer' });

type Accepted = z.infer<typeof messageAnswerSchema>;

interface RunMessage {
  message: Message;
  /** The name of the update. Default: the first one of the message. */
  update?: string;
  /** Follows the path of the run. Default: the name of the update. */
  path?: string;
  /** Default: the update's name, followed by that of the kind of run. */
  operationId?: string;
  summary: string;
  description?: string;
  scope: Scope;
  /** Further keywords for the schema of the body, or of each of its forms: a name, and rules that zod cannot express. */
  metas?: readonly object[];
  /** Whether the message names the person who sends it. Default: where its schema has `by`. */
  needsName?(content: Loose): boolean;
  /** Sends the message, and returns the run's answer. Default: as the update of this name. */
  send?(call: Call, id: string, content: Loose): Promise<Accepted>;
  /** A message that ends the run or takes back a share: the ledger knows it after the run's end, too. */
  ends?: true;
}

/** Returns the schema of a body by each form of its message: without what the path and the token give. */
function createBodySchemas(message: Message, given: readonly string[], metas: readonly object[] = []) {
  const { forms = [message.schema] } = message;
  return new Map(
    forms.map((form, index) => {
      const schema = completeSchema(message, form) as z.ZodObject;
      const omitted = given.filter((name) => name in schema.shape).map((name) => [name, true as const]);
      return [form, schema.omit(Object.fromEntries(omitted) as never).meta({ ...metas[index] })];
    }),
  );
}

/**
 * Returns the operation of a message to runs of this kind. Temporal has the message before the API answers. The API answers
 * a repeated message as a duplicate.
 */
function createMessageOperation(
  { kind, path, name }: Pick<KindOfRun<never>, 'kind' | 'path' | 'name'>,
  {
    message,
    update = Object.keys(message.updates)[0] as string,
    path: subpath = `/${update}`,
    operationId = `${update}${name}`,
    metas,
    needsName,
    send,
    ends,
    ...form
  }: RunMessage,
): Operation {
  const at = `POST ${path}/{${ID_NAMES[kind]}}${subpath}` as const;
  const { shape = {} } = message.schema(z.never() as never) as z.ZodObject;
  const bodies = createBodySchemas(message, ['by', message.address, ...listPathParameters(at)], metas);
  const [body = z.never(), ...others] = bodies.values();
  const sendUpdate = ({ services, sending }: Call, id: string, content: Loose): Promise<Accepted> =>
    services.journeys.run(toRunKey(kind, id)).send(update, content, sending);
  return defineOperation({
    at,
    operationId,
    ...form,
    body: (others.length > 0 ? z.union([body, ...others]) : body) as z.ZodType<JsonObject>,
    findDefinition: () => message,
    answer: messageAnswerSchema,
    done: 'The message was accepted, by this call or an earlier one.',
    problems: {
      409: '`differs`: its key was used with other content. `notNow`, `ending`, `unknownPart`, `unproven`: the run cannot accept the message in its present state; `detail` says why. `journeyFinished`: it has ended.',
    },
    async run(call: Call) {
      const { [ID_NAMES[kind]]: id = '' } = call.params;
      const namesActor = needsName?.(call.body) ?? 'by' in shape;
      const content = { ...call.body, ...call.params, ...(namesActor ? { by: call.by() } : {}) };
      const { form, broken } = applyRules(message, content);
      // By the body's own schema: no problem asks for what path and token give.
      parseWith(bodies.get(form) ?? body, call.body, '', broken);
      const answer = await (send ?? sendUpdate)(call, id, content).catch(async (error: unknown): Promise<Accepted> => {
        if (!ends || !hasCode(error, 'journeyFinished', 'notFound')) throw error;
        // A withdrawal that comes again after the run's end is a duplicate, if the ledger says that it was accepted.
        const withdrawal = { ...content, runKey: toRunKey(kind, id), action: 'withdraw' } as unknown as EndingMessage;
        const paths = await (await call.services.openLedger()).findEndingDifferences(withdrawal);
        if (!paths) throw error;
        refuseDifferent('withdraw was accepted', { paths });
        return { accepted: true, duplicate: true, recorded: true };
      });
      return messageAnswerSchema.parse(answer);
    },
  });
}

function toEtag(body: string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

/** Whether `If-None-Match` has it. A weak tag matches, too (RFC 9110, 13.1.2). */
function hasAlready({ headers }: Pick<Call, 'headers'>, etag: string): boolean {
  const given = headers['if-none-match'];
  if (given === undefined) return false;
  return given.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

const LONGEST_WAIT_SECONDS = 60;

/** `Prefer: wait=<seconds>` (RFC 7240), at most 60; a preference that cannot be read is passed over. */
function readWaitSeconds({ headers }: Pick<Call, 'headers'>): number {
  const [, seconds] = /(?:^|[,;\s])wait="?(\d{1,6})"?(?:$|[,;\s])/i.exec([headers.prefer ?? ''].flat().join(',')) ?? [];
  return Math.min(Number(seconds ?? 0), LONGEST_WAIT_SECONDS);
}

/**
 * Returns a run's status. If the caller names the status it knows, waits for the next one as long as the caller allows.
 *
 * @throws Refusal 429 where too many callers wait
 */
async function statusReply(call: Call, run: Run<RunKind>): Promise<Reply> {
  const { headers, sending } = call;
  const seconds = headers['if-none-match'] === undefined ? 0 : readWaitSeconds(call);
  const waited = seconds === 0 ? undefined : await waitForNext(call, run, seconds * 1000);
  const status = waited ?? (await run.status({ signal: sending.signal }));
  const etag = toEtag(JSON.stringify(status));
  const own = { etag, ...(seconds === 0 ? {} : { 'preference-applied': `wait=${seconds}` }) };
  return hasAlready(call, etag) ? new Reply(304, { headers: own }) : new Reply(200, { body: status, headers: own });
}

/** Returns the first status that the caller does not have, or the latest one once its time is over. */
async function waitForNext(call: Call, run: Run<RunKind>, waitMs: number): Promise<object | undefined> {
  const { waiters } = call.services;
  const caller = toCallerKey(call.caller);
  if (!(await waiters.take(caller))) throw new Refusal('waiting');
  call.giveUpSlot();
  let latest: object | undefined;
  try {
    const signal = AbortSignal.any([call.sending.signal, call.stopping, AbortSignal.timeout(waitMs)]);
    for await (const status of run.watch({ signal })) {
      latest = status;
      if (!hasAlready(call, toEtag(JSON.stringify(status)))) break;
    }
  } finally {
    waiters.release(caller);
  }
  return latest;
}
