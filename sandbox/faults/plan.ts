/** The fault plan: rules that select requests. The first rule that matches a request decides. */
import { z } from 'zod';
import { chance } from '../rules/digest.ts';
import type { Problem } from '../rules/table.ts';
import { befalls, requestFault, type Target, tokenFault } from './catalogue.ts';
import type { Fault, Params, TokenFault } from './fault.ts';

export interface FaultRule {
  target: Target;
  fault: string;
  params: Params;
  productCode?: string;
  /** The last four digits of any applicant's SSN; for SECONDUSE of any consumer that it names. */
  ssnLast4?: string;
  customerTraceNumber?: string;
  /** Only the nth request of a trace number, from 1. For the token service, the nth request since the plan was set. */
  attempt?: number;
  /** How often the rule may apply in all. */
  times?: number;
  /** From 0 to 1. Default 1. */
  probability?: number;
}

export interface FaultPlan {
  seed: number;
  rules: FaultRule[];
  /** Takes effect when the plan is set. */
  refuseConnectionsForMs?: number;
}

/** The properties that rules may match. Before the body is read (`arrival`) only the count is known. */
export interface Subject {
  target: Target;
  productCode: string | null;
  customerTraceNumber: string | null;
  ssnLast4: readonly string[];
  attempt: number;
  /** The number of the request at this target; names a request without a trace number. */
  count: number;
}

const text = z.string().min(1);
const count = z.int().min(1);
const TOKEN_MATCHERS = { attempt: count, times: count, probability: z.number().min(0).max(1) };
const MATCHERS = {
  ...TOKEN_MATCHERS,
  productCode: text,
  ssnLast4: z.string().regex(/^\d{4}$/),
  customerTraceNumber: text,
};
/** Before the body is read. */
const ARRIVAL_MATCHERS = { times: MATCHERS.times, probability: MATCHERS.probability };

const planSchema = z.strictObject({
  seed: z.int().optional(),
  rules: z
    .array(z.looseObject({ target: z.enum(['request', 'token']).default('request'), fault: z.string() }))
    .default([]),
  refuseConnectionsForMs: z.int().min(1).max(600_000).optional(),
});

/** A plan from the JSON of `PUT /_sandbox/faults`, or the problems of that JSON. */
export function parsePlan(body: unknown, defaultSeed: number): { plan: FaultPlan } | { problems: Problem[] } {
  const parsed = planSchema.safeParse(body);
  if (!parsed.success) return { problems: toProblems(parsed.error) };
  const { seed = defaultSeed, rules, refuseConnectionsForMs } = parsed.data;
  const problems: Problem[] = [];
  const read = rules.flatMap((rule, index) => parseRule(rule, index, problems));
  if (problems.length > 0) return { problems };
  return { plan: { seed, rules: read, ...(refuseConnectionsForMs !== undefined && { refuseConnectionsForMs }) } };
}

function parseRule(
  { target, fault: name, ...rest }: z.output<typeof planSchema>['rules'][number],
  index: number,
  problems: Problem[],
): FaultRule[] {
  const at = ['rules', index] as const;
  const fault = target === 'token' ? tokenFault(name) : requestFault(name);
  if (!fault) {
    problems.push({ path: `/rules/${index}/fault`, rule: 'a fault of this target: see GET /_sandbox/faults' });
    return [];
  }
  const parsed = ruleSchema(fault).safeParse(rest);
  if (!parsed.success) {
    problems.push(...toProblems(parsed.error, at));
    return [];
  }
  const all = Object.entries(parsed.data);
  const [matchers, params] = [true, false].map((isMatcher) =>
    Object.fromEntries(all.filter(([field]) => Object.hasOwn(MATCHERS, field) === isMatcher)),
  );
  const rule: FaultRule = { target, fault: name, ...matchers, params: params as Params };
  if (!befalls(fault, rule.productCode ?? null)) {
    problems.push({ path: `/rules/${index}/productCode`, rule: 'this fault needs a report' });
  }
  return [rule];
}

function ruleSchema({ stage, params }: Fault) {
  const matchers = stage === 'token' ? TOKEN_MATCHERS : stage === 'arrival' ? ARRIVAL_MATCHERS : MATCHERS;
  return z.strictObject({ ...z.object(matchers).partial().shape, ...params });
}

function toProblems({ issues }: z.ZodError, at: readonly PropertyKey[] = []): Problem[] {
  return issues.map(({ path, code }) => ({
    path: [...at, ...path].map((part) => `/${String(part)}`).join(''),
    rule: code,
  }));
}

/** Holds the current plan, and how often each of its rules has applied. */
export class Faults {
  readonly #defaultSeed: number;
  readonly #firstRules: readonly FaultRule[];
  #plan: FaultPlan;
  #struck: number[] = [];
  #tokenRequests = 0;

  /** @param firstRules the plan at the start and after a reset */
  constructor(defaultSeed: number, firstRules: readonly FaultRule[]) {
    this.#defaultSeed = defaultSeed;
    this.#firstRules = firstRules;
    this.#plan = { seed: defaultSeed, rules: [...firstRules] };
  }

  /** The plan as it was set, with each rule's count as `struck`. */
  describe(): { seed: number; rules: Record<string, unknown>[] } {
    const rules = this.#plan.rules.map(({ params, ...rule }, index) => ({
      ...rule,
      ...params,
      struck: this.#struck[index] ?? 0,
    }));
    return { seed: this.#plan.seed, rules };
  }

  set(body: unknown): { plan: FaultPlan } | { problems: Problem[] } {
    const parsed = parsePlan(body, this.#defaultSeed);
    if ('plan' in parsed) this.#begin(parsed.plan);
    return parsed;
  }

  /** Returns to the plan of the start. */
  reset(): void {
    this.#begin({ seed: this.#defaultSeed, rules: [...this.#firstRules] });
  }

  #begin(plan: FaultPlan): void {
    this.#plan = plan;
    this.#struck = plan.rules.map(() => 0);
    this.#tokenRequests = 0;
  }

  /** The rule that applies to this token request. */
  chooseForToken(): { fault: TokenFault; params: Params } | undefined {
    this.#tokenRequests += 1;
    const count = this.#tokenRequests;
    const nameless = { productCode: null, customerTraceNumber: null, ssnLast4: [] };
    const chosen = this.choose({ target: 'token', ...nameless, attempt: count, count }, 'later');
    return chosen?.fault.stage === 'token' ? { fault: chosen.fault, params: chosen.params } : undefined;
  }

  /** The rule that applies; counts it. `stage` separates rules that need no body from the rest. */
  choose(subject: Subject, stage: 'arrival' | 'later'): { fault: Fault; params: Params } | undefined {
    for (const [index, rule] of this.#plan.rules.entries()) {
      const fault = rule.target === 'token' ? tokenFault(rule.fault) : requestFault(rule.fault);
      if (!fault || (fault.stage === 'arrival') !== (stage === 'arrival')) continue;
      if (!befalls(fault, subject.productCode) || !matches(rule, subject)) continue;
      const struck = this.#struck[index] ?? 0;
      if (struck >= (rule.times ?? Number.POSITIVE_INFINITY) || !this.#drawn(rule, index, subject)) continue;
      this.#struck[index] = struck + 1;
      return { fault, params: rule.params };
    }
    return undefined;
  }

  /**
   * Draws from the seed and the request's own name (trace number and attempt). The order of arrival plays no part,
   * since no load repeats it: the same inquiries under the same seed meet the same faults. Requests without a name use
   * their count.
   */
  #drawn(rule: FaultRule, index: number, subject: Subject): boolean {
    if (rule.probability === undefined) return true;
    const named = subject.customerTraceNumber;
    const name = named === null ? [subject.target, subject.count] : [named, subject.attempt];
    return chance(this.#plan.seed, index, ...name) < rule.probability;
  }
}

function matches(rule: FaultRule, subject: Subject): boolean {
  return (
    rule.target === subject.target &&
    (rule.productCode === undefined || rule.productCode === subject.productCode) &&
    (rule.customerTraceNumber === undefined || rule.customerTraceNumber === subject.customerTraceNumber) &&
    (rule.ssnLast4 === undefined || subject.ssnLast4.includes(rule.ssnLast4)) &&
    (rule.attempt === undefined || rule.attempt === subject.attempt)
  );
}
