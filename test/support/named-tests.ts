/** Checks in the source whether tests exist that a page names by file and title. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface NamedTest {
  /** The path from the project's root. */
  file: string;
  title: string;
}

const root = join(import.meta.dirname, '../..');

/** Matches a call of `test`, `it` or `describe`, with its title and its options. */
const DECLARED =
  /\b(?<call>(?:test|it|describe)(?:\.(?<modifier>skip|todo|only))?)\(\s*(?:'(?<single>(?:\\.|[^'\\])*)'|"(?<double>(?:\\.|[^"\\])*)"|`(?<template>(?:\\.|[^`\\])*)`)(?<options>,\s*\{[^}]*\})?/g;

/** A template with fewer literal characters would match almost any title. */
const LEAST_LITERAL = 8;

interface Declared {
  matches(title: string): boolean;
  isSkipped: boolean;
}

const read = new Map<string, Declared[]>();

/** Why the test does not count; `null` where it is declared and not skipped. A title with placeholders is compared around them. */
export function missingBecause({ file, title }: NamedTest): string | null {
  if (!existsSync(join(root, file))) return 'no such file';
  const declared = read.get(file) ?? declaredIn(readFileSync(join(root, file), 'utf8'));
  read.set(file, declared);
  const named = declared.filter(({ matches }) => matches(title));
  if (named.length === 0) return 'no test of this title';
  return named.every(({ isSkipped }) => isSkipped) ? 'skipped' : null;
}

function declaredIn(source: string): Declared[] {
  const found = [...source.matchAll(DECLARED)].map(({ groups = {} }) => groups);
  const isDescribe = ({ call }: Record<string, string>) => call?.startsWith('describe') ?? false;
  // If a group is skipped, none of the file's tests count, since its members are not looked up.
  const allSkipped = found.some((one) => isDescribe(one) && skips(one));
  return found
    .filter((one) => !isDescribe(one))
    .map((one) => ({ matches: matcherOf(one), isSkipped: allSkipped || skips(one) }));
}

function skips({ modifier, options = '' }: Record<string, string | undefined>): boolean {
  return modifier === 'skip' || modifier === 'todo' || /\b(?:skip|todo)\b/.test(options);
}

function matcherOf({ single, double, template }: Record<string, string | undefined>): (title: string) => boolean {
  const plain = single ?? double;
  if (plain !== undefined) return (title) => title === unescaped(plain);
  const literals = (template ?? '').split(/\$\{(?:[^{}]|\{[^{}]*\})*\}/).map(unescaped);
  if (literals.join('').length < LEAST_LITERAL) return () => false;
  const pattern = new RegExp(`^${literals.map(escaped).join('.*')}$`, 's');
  return (title) => pattern.test(title);
}

function unescaped(literal: string): string {
  return literal.replaceAll(/\\(.)/gs, '$1');
}

/** Escapes a text for a regular expression. */
export function escaped(literal: string): string {
  return literal.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
