/**
 * A predicate of a workflow reads nothing but state that recorded events change (docs/decisions/journeys.md, 54). This test
 * follows each predicate through the sources, by the names that it calls, and finds clocks and figures of the history.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseSync } from '@swc/core';

interface Node {
  type: string;
  [member: string]: unknown;
}

/** A function, or a member of a class or object, under the name by which others reach it. */
interface Definition {
  file: string;
  name: string;
  kind: 'function' | 'method' | 'getter';
  body: Node;
}

interface Source {
  file: string;
  code: string;
}

/** The files that contain predicates, and the pure modules that they may call. */
const SOURCES = 'src/{workflows,consent,base,model}/**/*.ts';

/** Calls whose arguments the SDK, or the run for it, evaluates again in later tasks. */
const WAITS = new Set(['condition', 'wait', 'inFlight.run']);

/** Members of JavaScript's own types: a call of one of them is not followed to a method of ours that has the same name. */
const BUILT_IN = new Set(
  [Array, Map, Set, String, Promise].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype)),
);

function childrenOf(node: Node): Node[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value.flatMap(nodesIn) : nodesIn(value)));
}

function nodesIn(value: unknown): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('type' in value && typeof value.type === 'string') return [value as Node];
  return Object.values(value).flatMap((member) => (typeof member === 'object' ? nodesIn(member) : []));
}

function within(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of childrenOf(node)) within(child, visit);
}

function nameOf(node: unknown): string {
  const { type, value, id, property, object } = (node ?? {}) as Record<string, unknown>;
  if (type === 'Identifier' || type === 'StringLiteral') return String(value);
  if (type === 'PrivateName') return `#${String(value ?? (id as { value?: string } | undefined)?.value)}`;
  if (type === 'MemberExpression') return `${nameOf(object).split('.').at(-1) ?? ''}.${nameOf(property)}`;
  if (type === 'OptionalChainingExpression') return nameOf((node as { base?: unknown }).base);
  return '';
}

function lastName(node: unknown): string {
  return nameOf(node).split('.').at(-1) ?? '';
}

const FUNCTIONS = ['ArrowFunctionExpression', 'FunctionExpression'];

function definitionIn(file: string, node: Node): Definition | undefined {
  const { type } = node;
  const named = (kind: Definition['kind'], key: unknown, body: unknown) => ({
    ...{ file, kind, name: lastName(key), body: body as Node },
  });
  if (type === 'FunctionDeclaration') return named('function', node.identifier, node);
  if (type === 'ClassMethod' || type === 'PrivateMethod') {
    return named(node.kind === 'getter' ? 'getter' : 'method', node.key, node.function);
  }
  if (type === 'MethodProperty') return named('method', node.key, node);
  if (type === 'GetterProperty') return named('getter', node.key, node);
  const value = (node.init ?? node.value) as Node | undefined;
  if (!value || !FUNCTIONS.includes(value.type)) return undefined;
  if (type === 'VariableDeclarator') return named('function', node.id, value);
  const isMember = ['KeyValueProperty', 'ClassProperty', 'PrivateProperty'].includes(type);
  return isMember ? named('method', node.key, value) : undefined;
}

/** Finds the reads of a function that no predicate may make. */
function forbiddenIn(body: Node): string[] {
  const found: string[] = [];
  const allowed = new Set<Node>();
  within(body, (node) => {
    const { callee, arguments: given, object, property } = node as { [member: string]: unknown } & Node;
    if (node.type === 'MemberExpression' && lastName(property) === 'runId') allowed.add(object as Node);
    if (node.type === 'NewExpression' && nameOf(callee) === 'Date' && ((given as unknown[]) ?? []).length === 0) {
      found.push('new Date()');
    }
    if (node.type !== 'CallExpression' || allowed.has(node)) return;
    if (['Date.now', 'Date', 'performance.now'].includes(nameOf(callee))) found.push(`${nameOf(callee)}()`);
    if (nameOf(callee) === 'workflowInfo') found.push('workflowInfo()');
  });
  return found;
}

type Names = Set<string>;

/** The names that a function calls by themselves, calls as members, reads as members, and hands on. */
function readsOf(body: Node) {
  const [bare, members, read, handedOn] = [1, 2, 3, 4].map(() => new Set<string>()) as [Names, Names, Names, Names];
  const noteCall = (callee: Node) => {
    if (callee.type === 'Identifier') bare.add(nameOf(callee));
    else members.add(lastName(callee));
  };
  within(body, (node) => {
    if (node.type === 'MemberExpression') read.add(lastName(node.property));
    // `const { isDue } = handOver`
    if (node.type === 'AssignmentPatternProperty' || node.type === 'KeyValuePatternProperty')
      read.add(lastName(node.key));
    if (node.type !== 'CallExpression') return;
    noteCall(node.callee as Node);
    // A function that is handed on, as in `every(isOver)`.
    for (const { expression } of node.arguments as { expression: Node }[]) {
      if (expression.type === 'Identifier') handedOn.add(nameOf(expression));
    }
  });
  return { bare, members, read, handedOn };
}

interface Read {
  definitions: Definition[];
  roots: Definition[];
  /** By file and name in it: the name in the file that it comes from. */
  imports: Map<string, string>;
}

function readAll(sources: readonly Source[]): Read {
  const all: Read = { definitions: [], roots: [], imports: new Map() };
  for (const { file, code } of sources) {
    const own: Definition[] = [];
    const waits: Node[] = [];
    const shown: [string, string][] = [];
    within(parseSync(code, { syntax: 'typescript', target: 'es2022' }) as unknown as Node, (node) => {
      const definition = definitionIn(file, node);
      if (definition) own.push(definition);
      if (node.type === 'ImportSpecifier') {
        all.imports.set(`${file} ${nameOf(node.local)}`, nameOf(node.imported ?? node.local));
      }
      for (const property of node.type === 'ObjectExpression' ? (node.properties as Node[]) : []) {
        const value = property.type === 'KeyValueProperty' ? (property.value as Node) : property;
        if (value.type === 'Identifier') shown.push([nameOf(value), lastName(property.key ?? property)]);
      }
      if (node.type !== 'CallExpression') return;
      if (WAITS.has(lastName(node.callee)) || WAITS.has(nameOf(node.callee))) waits.push(node);
    });
    for (const { callee, arguments: given } of waits) {
      const [first] = given as { expression: Node }[];
      if (!first) continue;
      const { expression: body } = first;
      const inline: Definition = { ...{ file, body }, kind: 'function', name: `${lastName(callee)}(…)` };
      const named = own.filter(({ name }) => name === lastName(body));
      all.roots.push(...(FUNCTIONS.includes(body.type) ? [inline] : named));
    }
    // `{ isOpen }` and `{ isOver: isLate }` make a function a member.
    const members = shown.flatMap(([name, shownAs]) =>
      own.filter((one) => one.kind === 'function' && one.name === name).map((one) => ({ ...one, name: shownAs })),
    );
    all.definitions.push(...own, ...members.map((one) => ({ ...one, kind: 'method' as const })));
  }
  return all;
}

/** Finds the functions that a function may call or read, by name. */
function reachedFrom({ file, body }: Definition, { definitions, imports }: Read): Definition[] {
  const { bare, members, read, handedOn } = readsOf(body);
  const methods = new Set([...members].filter((name) => !BUILT_IN.has(name)));
  const functions: Definition[] = [];
  for (const name of new Set([...bare, ...handedOn])) {
    const imported = imports.get(`${file} ${name}`);
    const found = definitions.filter(
      (one) => one.kind === 'function' && (one.file === file ? one.name === name : one.name === imported),
    );
    functions.push(...found);
    // It may have been taken out of an object.
    if (bare.has(name) && found.length === 0 && imported === undefined) methods.add(name);
  }
  const isHere = (one: Definition) => !one.name.startsWith('#') || one.file === file;
  const reached = definitions.filter((one) => {
    if (one.kind === 'function') return false;
    return isHere(one) && (one.kind === 'getter' ? read : methods).has(one.name);
  });
  return [...functions, ...reached];
}

/** The chain of names from each predicate to what it must not read. */
function violations(sources: readonly Source[]): string[] {
  const all = readAll(sources);
  assert.ok(all.roots.length > 0, 'no predicate was found');
  const found = new Set<string>();
  for (const root of all.roots) {
    const seen = new Set([root]);
    const open = [{ definition: root, chain: `${root.file} ${root.name}` }];
    for (let next = open.shift(); next; next = open.shift()) {
      const { definition, chain } = next;
      for (const what of forbiddenIn(definition.body)) found.add(`${chain}: ${what}`);
      for (const reached of reachedFrom(definition, all)) {
        if (seen.has(reached)) continue;
        seen.add(reached);
        open.push({ definition: reached, chain: `${chain} → ${reached.name}` });
      }
    }
  }
  return [...found];
}

test('no predicate of a workflow reads a clock or the size of the history', () => {
  const files = globSync(SOURCES);
  assert.deepEqual(violations(files.map((file) => ({ file, code: readFileSync(file, 'utf8') }))), []);
});

test('the check finds a clock or a history size behind a function, a getter and a predicate that is passed on', () => {
  const cases = {
    'await condition(() => Date.now() > until);': 'Date.now()',
    'const isOver = () => isLate(); function isLate() { return new Date() > end; } await handOver.wait(isOver, 5);':
      'new Date()',
    'class A { get isDue() { return workflowInfo().historyLength > 9; } go() { return condition(() => this.isDue); } }':
      'workflowInfo()',
    'const isOld = (one: number) => one < Date.now(); await condition(() => all.every(isOld));': 'Date.now()',
    'const isOpen = () => Date.now() > 5; const gate = { isOpen }; await condition(() => gate.isOpen());': 'Date.now()',
    'await inFlight.run(() => stops(), body); const stops = () => Date.now() > 5;': 'Date.now()',
  };
  for (const [code, what] of Object.entries(cases)) {
    const [found = ''] = violations([{ file: 'a.ts', code }]);
    assert.ok(found.endsWith(`: ${what}`), `${code}\n${found}`);
  }
});

test('the check accepts state, the run id and a time that was read earlier', () => {
  const code = `
    const nowMs = Date.now();
    await condition(() => state.isOver || nowMs > until || answered.has(workflowInfo().runId) || new Date(nowMs) > end);`;
  assert.deepEqual(violations([{ file: 'a.ts', code }]), []);
});
