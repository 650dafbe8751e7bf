/** The pages show the examples unchanged, and their messages are valid. `npm run examples` runs them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MESSAGES } from '../src/messages/all-messages.ts';
import { INPUTS } from '../src/messages/inputs/all-inputs.ts';
import { parseMessage } from '../src/messages/inputs/parse-message.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const page = read('docs/integrating.md');
const signals = read('docs/signals.md');
const api = read('docs/http-api.md');
const first = read('docs/first-program.md');

test('every piece of code on the page is in the example that it is taken from', () => {
  const shown = [...page.matchAll(/^<!-- (examples\/\S+) -->\n```\w+\n([\s\S]*?)^```$/gm)];
  const others = page.replaceAll(/^<!-- examples\/\S+ -->\n```/gm, '').matchAll(/^```(?!sh\b)\w+$/gm);
  assert.deepEqual([...others], [], 'each block says where it is from, or is a command');
  const ofOthers = [...`${api}${signals}${first}`.matchAll(/^<!-- (examples\/\S+) -->\n```\w+\n([\s\S]*?)^```$/gm)];
  assert.ok(ofOthers.length > 0);
  for (const [, file = '', code = ''] of [...shown, ...ofOthers])
    assert.ok(read(file).includes(code), `${file}:\n${code}`);
});

test('the page of the first programs shows each of them completely, part by part', () => {
  for (const file of ['examples/typescript/first-program.ts', 'examples/api/first-program.sh']) {
    const parts = [...first.matchAll(/^<!-- (examples\/\S+) -->\n```\w+\n([\s\S]*?)^```$/gm)];
    const shown = parts.filter(([, from]) => from === file).map(([, , code]) => code);
    assert.equal(shown.join('\n'), read(file));
  }
});

test('the page names every schema and every program', () => {
  const schemas = readdirSync(join(root, 'schemas'));
  for (const file of schemas) assert.ok(page.includes(`\`${file}\``), file);
  for (const language of readdirSync(join(root, 'examples'), { withFileTypes: true })) {
    if (language.isDirectory()) assert.ok(`${page}${first}`.includes(`examples/${language.name}/`), language.name);
  }
});

test('the messages that the examples send are valid', () => {
  parseMessage(INPUTS.lendingJourney, JSON.parse(read('examples/journey.json')), { maxApplicants: 2 });
  parseMessage(MESSAGES.consent, JSON.parse(read('examples/consent.json')));
});
