/** What callers of the API would miss after a change of its document: within /v1 it only grows. */

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

const METHODS = ['get', 'post', 'put', 'delete'];

/**
 * Each change that breaks a caller: an operation, a parameter, an answer or a member of one that is gone; a parameter or
 * a member of a request that is required now, or not taken any more; a form that is another.
 */
export function incompatibilities(before: Json, after: Json): string[] {
  const found: string[] = [];
  for (const [path, operations] of Object.entries<Json>(before.paths)) {
    for (const method of METHODS.filter((one) => operations[one])) {
      const name = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      if (!now) found.push(`${name} is gone`);
      else compareOperations(name, { was: operations[method], now, before, after, found });
    }
  }
  return found;
}

interface Pair {
  was: Json;
  now: Json;
  before: Json;
  after: Json;
  found: string[];
}

function compareOperations(name: string, { was, now, ...documents }: Pair): void {
  const { found } = documents;
  if (was.operationId !== now.operationId) found.push(`${name} has another operationId`);
  if (was['x-scope'] !== now['x-scope']) found.push(`${name} takes another scope`);
  const keyOf = (one: Json) => `${one.in} ${one.name}`;
  const [old, current] = [was.parameters ?? [], now.parameters ?? []];
  for (const one of old) {
    const same = current.find((other: Json) => keyOf(other) === keyOf(one));
    if (!same) found.push(`${name}: the parameter ${keyOf(one)} is gone`);
    else compareRequests(`${name}: ${keyOf(one)}`, { ...documents, was: one.schema, now: same.schema });
  }
  for (const one of current) {
    const isNew = !old.some((other: Json) => keyOf(other) === keyOf(one) && other.required === one.required);
    if (isNew && one.required) found.push(`${name}: the parameter ${keyOf(one)} is required now`);
  }
  const bodyOf = (operation: Json) => operation.requestBody?.content?.['application/json']?.schema;
  if (!bodyOf(was) && bodyOf(now)) found.push(`${name} needs a body now`);
  else if (bodyOf(was))
    compareRequests(`${name}: the body`, { ...documents, was: bodyOf(was), now: bodyOf(now) ?? {} });
  for (const [status, answer] of Object.entries<Json>(was.responses)) {
    const same = now.responses[status];
    if (!same) found.push(`${name} does not answer ${status} any more`);
    else compareAnswers(`${name}: ${status}`, { ...documents, was: contentOf(answer), now: contentOf(same) });
  }
  for (const status of Object.keys(now.responses)) {
    if (status.startsWith('2') && !was.responses[status]) found.push(`${name} answers ${status} now`);
  }
}

function contentOf(answer: Json): Json {
  const [content] = Object.values<Json>(answer.content ?? {});
  return content?.schema ?? {};
}

function compareRequests(at: string, pair: Pair): void {
  const [was, now] = resolved(pair);
  const { found } = pair;
  for (const name of now.required ?? []) {
    if (!(was.required ?? []).includes(name)) found.push(`${at}/${name} is required now`);
  }
  for (const [name, schema] of Object.entries(was.properties ?? {})) {
    const same = now.properties?.[name];
    if (!same) found.push(`${at}/${name} is not taken any more`);
    else compareRequests(`${at}/${name}`, { ...pair, was: schema, now: same });
  }
  const missing = (was.enum ?? []).filter((value: unknown) => now.enum && !now.enum.includes(value));
  if (missing.length > 0) found.push(`${at} does not take ${missing.join(', ')} any more`);
  compareForms(at, pair, compareRequests);
}

function compareAnswers(at: string, pair: Pair): void {
  const [was, now] = resolved(pair);
  const { found } = pair;
  for (const name of was.required ?? []) {
    if (!(now.required ?? []).includes(name)) found.push(`${at}/${name} may be absent now`);
  }
  for (const [name, schema] of Object.entries(was.properties ?? {})) {
    const same = now.properties?.[name];
    if (!same) found.push(`${at}/${name} is gone`);
    else compareAnswers(`${at}/${name}`, { ...pair, was: schema, now: same });
  }
  compareForms(at, pair, compareAnswers);
}

function compareForms(at: string, pair: Pair, compare: (at: string, pair: Pair) => void): void {
  const [was, now] = resolved(pair);
  if (was.type !== undefined && JSON.stringify(was.type) !== JSON.stringify(now.type)) {
    pair.found.push(`${at} is of another type`);
  }
  if (was.items) compare(`${at}/*`, { ...pair, was: was.items, now: now.items ?? {} });
  for (const word of ['anyOf', 'oneOf']) {
    const forms = (was[word] ?? []) as Json[];
    forms.forEach((form, index) => {
      const same = now[word]?.[index];
      if (!same) pair.found.push(`${at} has not all of its forms any more`);
      else compare(`${at}(${index})`, { ...pair, was: form, now: same });
    });
  }
}

function resolved({ was, now, before, after }: Pair): [Json, Json] {
  const part = (document: Json, schema: Json): Json => {
    const name = /^#\/components\/schemas\/(.+)$/.exec(schema?.$ref ?? '')?.[1];
    return name === undefined ? (schema ?? {}) : part(document, document.components.schemas[name]);
  };
  return [part(before, was), part(after, now)];
}
