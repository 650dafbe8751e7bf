/** Run keys: one id for each run that makes inquiries, of any kind. Pure. */
import { checkOpaqueId, checkReviewId, MAX_ID_LENGTH, MAX_SHARE_ID_LENGTH } from './opaque-id.ts';

/** Kinds of runs, each with its workflow types. A workflow id is the kind, a dash, and the caller's own id. */
export const RUN_KINDS = {
  journey: ['lendingJourney'],
  pull: ['creditReport', 'failsafeCheck'],
  portfolio: ['portfolioReview'],
  share: ['shareReport'],
} as const;
export type RunKind = keyof typeof RUN_KINDS;

/** The member that names the run in each message and in the input. */
export const ID_NAMES = {
  journey: 'journeyId',
  pull: 'pullId',
  share: 'shareId',
  portfolio: 'reviewId',
} as const satisfies Record<RunKind, string>;

export const RUN_NAMES: Readonly<Record<RunKind, string>> = {
  journey: 'journey',
  pull: 'pull',
  share: 'share',
  portfolio: 'review',
};

export const KINDS = Object.keys(RUN_KINDS) as [RunKind, ...RunKind[]];

/** A list filter (visibility query) for workflows of these types. */
export function toWorkflowTypesFilter(types: readonly string[]): string {
  return `WorkflowType IN (${types.map((type) => `'${type}'`).join(', ')})`;
}

/** A list filter for the runs of a task queue. */
export function toTaskQueueFilter(taskQueue: string): string {
  return `TaskQueue = '${taskQueue.replaceAll("'", "''")}'`;
}

/** A list filter for every run that makes inquiries. */
export const RUNS_WITH_INQUIRIES = toWorkflowTypesFilter(Object.values(RUN_KINDS).flat());

/**
 * Makes a `runKey`, which the command line takes as a journey's id. A journey keeps its own id; other runs have
 * `<kind>:<id>`, such as `pull:P-1`. No journey's id contains a colon, so a pull and a journey of one name never mix.
 * No id contains a slash, so a row of a portfolio is `portfolio:<reviewId>/<accountId>`.
 */
export function toRunKey(kind: RunKind, id: string): string {
  return kind === 'journey' ? id : `${kind}:${id}`;
}

/** Finds the kind of the run whose id a document has. */
export function findRunKind(document: object): RunKind | undefined {
  return KINDS.find((kind) => ID_NAMES[kind] in document);
}

/** Finds the run that a document names, by `runKey` or by an id of its kind. */
export function findRunKey(document: object): string | undefined {
  const ids = document as Readonly<Record<string, string>>;
  const kind = findRunKind(document);
  return ids.runKey ?? (kind && toRunKey(kind, ids[ID_NAMES[kind]] ?? ''));
}

/**
 * Splits a run key into the kind, the caller's own id (`journeyId`, `pullId`, `shareId` or `reviewId`) and, for one row of a
 * portfolio, its `accountId`. A text of no known kind reads as a journey's id, which is then invalid.
 */
export function parseRunKey(runKey: string): { kind: RunKind; id: string; accountId?: string } {
  const kind = KINDS.find((candidate) => candidate !== 'journey' && runKey.startsWith(`${candidate}:`));
  if (!kind) return { kind: 'journey', id: runKey };
  const id = runKey.slice(kind.length + 1);
  const slash = kind === 'portfolio' ? id.indexOf('/') : -1;
  return slash === -1 ? { kind, id } : { kind, id: id.slice(0, slash), accountId: id.slice(slash + 1) };
}

/** The rule that a caller's own id of a run breaks, or `null`. */
export function checkRunId(kind: RunKind, id: string): string | null {
  if (kind === 'portfolio') return checkReviewId(id);
  return checkOpaqueId(id, kind === 'share' ? MAX_SHARE_ID_LENGTH : MAX_ID_LENGTH);
}

/** The rule that a run key breaks, or `null`. */
export function checkRunKey(runKey: string): string | null {
  const { kind, id, accountId } = parseRunKey(runKey);
  return checkRunId(kind, id) ?? (accountId === undefined ? null : checkOpaqueId(accountId, MAX_ID_LENGTH));
}

/** The rule that a consent's `journeyId` breaks, or `null`: a journey's id, or `share:<shareId>` of `shareReport`. */
export function checkConsentOwner(runKey: string): string | null {
  const { kind, id } = parseRunKey(runKey);
  return kind === 'share' ? checkRunId(kind, id) : checkRunId('journey', runKey);
}

export function toWorkflowId(runKey: string): string {
  const { kind, id } = parseRunKey(runKey);
  return `${kind}-${id}`;
}

export function toRowRunKey(reviewId: string, accountId: string): string {
  return `${toRunKey('portfolio', reviewId)}/${accountId}`;
}

/** Returns the run key of a workflow id; `null` for another kind of workflow. */
export function parseWorkflowId(workflowId: string): string | null {
  const kind = KINDS.find((candidate) => workflowId.startsWith(`${candidate}-`));
  return kind ? toRunKey(kind, workflowId.slice(kind.length + 1)) : null;
}

/** The name of a run for people: `journey J-1`, `pull P-1`. */
export function formatRunName(runKey: string): string {
  const { kind, id, accountId } = parseRunKey(runKey);
  return accountId === undefined ? `${kind} ${id}` : `${kind} ${id}, account ${accountId}`;
}
