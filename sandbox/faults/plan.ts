/** The fault plan: rules that select requests. The first rule that matches a request decides. */
import { chance } from '../rules/digest.ts';
import { isObject, type Problem } from '../rules/table.ts';
import { befalls, requestFault, type Target, tokenFault } from './catalogue.ts';
import { type Fault, type Params, type ParamValue, type TokenFault, withDefaults } from './fault.ts';

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

type Matcher = 'productCode' | 'ssnLast4' | 'customerTraceNumber' | 'attempt' | 'times' | 'probability';

const MATCHERS: Record<Matcher, (value: unknown) => boolean> = {
  productCode: (value) => typeof value === 'string' && value !== '',
  ssnLast4: (value) => typeof value === 'string' && /^\d{4}$/.test(value),
  customerTraceNumber: (value) => typeof value === 'string' && value !== '',
  attempt: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  times: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  probability: (value) => typeof value === 'number' && value >= 0 && value <= 1,
};
/** The matchers that need the body of a gateway request. */
const BODY_MATCHERS: readonly Matcher[] = ['productCode', 'ssnLast4', 'customerTraceNumber', 'attempt'];
const TOKEN_MATCHERS: readonly Matcher[] = ['attempt', 'times', 'probability'];

/** A plan from the JSON of `PUT /_sandbox/faults`, or the problems of that JSON. */
export function parsePlan(body: unknown, defaultSeed: number): { plan: FaultPlan } | { problems: Problem[] } {
  if (!isObject(body)) return { problems: [{ path: '', rule: 'object' }] };
  const problems: Problem[] = [];
  const { seed = defaultSeed, rules = [], refuseConnectionsForMs, ...unknown } = body;
  if (Object.keys(unknown).length > 0) problems.push({ path: '', rule: 'unknownField' });
  if (!Number.isSafeInteger(seed)) problems.push({ path: '/seed', rule: 'integer' });
  if (refuseConnectionsForMs !== undefined && !isMilliseconds(refuseConnectionsForMs)) {
    problems.push({ path: '/refuseConnectionsForMs', rule: 'milliseconds:1-600000' });
  }
  if (!Array.isArray(rules)) return { problems: [...problems, { path: '/rules', rule: 'array' }] };
  const parsed = rules.map((rule, index) => parseRule(rule, `/rules/${index}`, problems));
  if (problems.length > 0) return { problems };
  const plan: FaultPlan = { seed: Number(seed), rules: parsed.filter((rule) => rule !== undefined) };
  if (refuseConnectionsForMs !== undefined) plan.refuseConnectionsForMs = Number(refuseConnectionsForMs);
  return { plan };
}

function isMilliseconds(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 600_000;
}

function parseRule(value: unknown, path: string, problems: Problem[]): FaultRule | undefined {
  if (!isObject(value)) {
    problems.push({ path, rule: 'object' });
    return undefined;
  }
  const { target = 'request', fault: name, ...rest } = value;
  if (target !== 'request' && target !== 'token') {
    problems.push({ path: `${path}/target`, rule: 'oneOf:request,token' });
    return undefined;
  }
  const fault = typeof name === 'string' ? (target === 'token' ? tokenFault(name) : requestFault(name)) : undefined;
  if (!fault) {
    problems.push({ path: `${path}/fault`, rule: 'a fault of this target: see GET /_sandbox/faults' });
    return undefined;
  }
  if (typeof rest.productCode === 'string' && !befalls(fault, rest.productCode)) {
    problems.push({ path: `${path}/productCode`, rule: 'this fault needs a report' });
  }
  const rule: FaultRule = { target, fault: fault.name, params: {} };
  const params: Record<string, ParamValue> = {};
  for (const [field, given] of Object.entries(rest)) {
    if (Object.hasOwn(MATCHERS, field)) {
      const matcher = field as Matcher;
      if (!matcherFits(matcher, fault)) problems.push({ path: `${path}/${field}`, rule: 'not with this fault' });
      else if (!MATCHERS[matcher](given)) problems.push({ path: `${path}/${field}`, rule: 'type or range' });
      else Object.assign(rule, { [matcher]: given });
    } else if (fault.params !== undefined && Object.hasOwn(fault.params, field)) {
      if (paramFits(fault, field, given)) params[field] = given as ParamValue;
      else problems.push({ path: `${path}/${field}`, rule: 'type or range' });
    } else {
      problems.push({ path, rule: 'unknownField' });
    }
  }
  for (const [field, description] of Object.entries(fault.params ?? {})) {
    if (description.required && rest[field] === undefined)
      problems.push({ path: `${path}/${field}`, rule: 'required' });
  }
  return { ...rule, params };
}

function matcherFits(matcher: Matcher, fault: Fault): boolean {
  if (fault.stage === 'token') return TOKEN_MATCHERS.includes(matcher);
  return fault.stage !== 'arrival' || !BODY_MATCHERS.includes(matcher);
}

function paramFits(fault: Fault, name: string, value: unknown): boolean {
  const types: readonly string[] = fault.params?.[name]?.type ?? [];
  if (!types.includes(typeof value)) return false;
  if (name === 'status') return Number.isSafeInteger(value) && Number(value) >= 300 && Number(value) <= 599;
  if (typeof value === 'string') return !/[\r\n\0]/.test(value);
  return typeof value !== 'number' || (Number.isSafeInteger(value) && value >= 0 && value <= 2 ** 31 - 1);
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
      return { fault, params: withDefaults(fault, rule.params) };
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
