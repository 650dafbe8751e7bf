/** The tables of the documentation name the variables that the programs read, with their defaults. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { findVariables, type VariableName } from '../../src/config/variables.ts';
import { ENVIRONMENTS } from '../../src/model/products.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const TEXT = ['configuration', 'codec-server', 'webhooks']
  .map((page) => readFileSync(join(ROOT, `docs/${page}.md`), 'utf8'))
  .join('\n');

const NAMES = Object.keys(findVariables('sandbox')) as VariableName[];

/** Variables that glibc or Temporal's libraries read. */
const OTHERS = ['MALLOC_ARENA_MAX'];

/** The variables and the default of each row in the tables with a column of defaults. */
const ROWS = [...TEXT.matchAll(/^\| variable \| default \|.*\n\|[ -|]*\n((?:\|.*\n)+)/gm)].flatMap(([, rows = '']) =>
  [...rows.matchAll(/^\| (.*?) \|(.*?)\|/gm)].map(([, first = '', fallback = '']) => ({
    names: [...first.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name),
    fallback,
  })),
);

/** Returns the default texts of a variable in all environments. */
function defaultsFor(name: VariableName): string[] {
  const schemas = ENVIRONMENTS.map((environment) => findVariables(environment)[name] as z.ZodType);
  const texts = schemas.flatMap((schema) => (schema instanceof z.ZodPrefault ? [String(schema.def.defaultValue)] : []));
  return [...new Set(texts)].filter((text) => text !== '' && !text.startsWith('credit-journeys-'));
}

describe('the documentation of the environment variables', () => {
  test('names each variable', () => {
    assert.deepEqual(
      NAMES.filter((name) => !new RegExp(`\`(…?)${name}\``).test(TEXT)).filter((name) => !isShared(name)),
      [],
    );
  });

  test('names only known variables in its tables', () => {
    const listed = ROWS.flatMap(({ names }) => names);
    assert.ok(listed.length > 90, `${listed.length} were found`);
    assert.deepEqual(
      listed.filter((name) => !NAMES.some((known) => known === name) && !OTHERS.includes(name)),
      [],
    );
  });

  for (const name of NAMES.filter((known) => defaultsFor(known).length > 0)) {
    const rows = ROWS.filter(({ names }) => names.includes(name));
    if (rows.length === 0) continue;
    test(`has the default of ${name}`, () => {
      for (const { fallback } of rows) {
        for (const text of defaultsFor(name)) assert.ok(fallback.includes(text), `${text} in ${fallback}`);
      }
    });
  }
});

/** Detects variables that the table of files lists without the prefix of their service. */
function isShared(name: string): boolean {
  return TEXT.includes(`…${name.replace(/^(API|CODEC)/, '')}`);
}
