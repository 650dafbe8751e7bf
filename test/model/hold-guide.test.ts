/** Tests that the code, the docs and the runbook say the same about holds. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FAILURE_TYPES, FAILURES, HOLD_ACTIONS } from '../../src/model/failure-types.ts';
import { RUN_NAMES, type RunKind } from '../../src/model/run-key.ts';
import { ATTENTION_GUIDE, describeEffects, toRunbookPage } from '../../src/words/holds.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** Reads the text of a page without emphasis, in one line. */
const plainText = (path: string) => read(path).replaceAll('*', '').replaceAll(/\s+/g, ' ');

describe('the guide to holds', () => {
  test('has the same statements on the consumer’s file as the runbook’s index and pages', () => {
    const index = plainText('docs/runbook/README.md');
    for (const type of FAILURE_TYPES) {
      const [brief] = FAILURES[type].file;
      const page = toRunbookPage(type);
      const name = page.replace(/^.*\/(.*)\.md$/, '$1');
      assert.ok(index.includes(`| \`${type}\` | ${brief} | [${name}](${name}.md) |`), `README.md: ${type}`);
      assert.ok(plainText(page).includes(`On the consumer’s file: ${brief}`), page);
    }
  });

  test('agrees with the runbook on which failures the run retries', () => {
    for (const type of FAILURE_TYPES.filter((one) => FAILURES[one].retry?.if === 'always'))
      assert.ok(plainText(toRunbookPage(type)).includes('`GIVE_UP_AFTER`'), type);
  });

  test('names only pages that exist, like all other sources', () => {
    const named = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
      [...read(file).matchAll(/docs\/[a-z/-]+\.md/g)].map(([page]) => [file, page] as const),
    );
    assert.ok(named.length > 10);
    const flags = Object.keys(ATTENTION_GUIDE) as (keyof typeof ATTENTION_GUIDE)[];
    const guided = [...FAILURE_TYPES, ...flags].map(toRunbookPage);
    for (const [file, page] of [...named, ...guided.map((page) => ['the guide', page] as const)]) {
      assert.ok(existsSync(join(ROOT, page)), `${file} names ${page}`);
    }
  });
});

describe('the guide to decisions', () => {
  const inquiry = { failureType: 'NotEntitled', productCode: 'ACCTRVW', attempt: 1 } as const;

  test('says that a journey can stop after a stage is accepted without a record', () => {
    const said = (isPosted: boolean, more: object = {}) =>
      describeEffects('accept', { ...inquiry, productCode: 'PREAPP', run: 'journey', ...more }, { isPosted }).join(' ');
    assert.match(
      said(false),
      /Without a record the journey stops here, unless its input says `onNoRecord`: `continue`\./,
    );
    assert.doesNotMatch(said(true), /stops/);
    assert.doesNotMatch(said(false, { run: 'pull', productCode: 'CR' }), /stops/);
    assert.doesNotMatch(said(false, { productCode: 'SECONDUSE', shareId: 'S-1' }), /stops/);
  });

  test('says for each kind of run whether it ends, and mentions no other kind', () => {
    const ends: Record<RunKind, RegExp> = {
      journey: /The journey ends with this stage; after a repeat it continues/,
      pull: /The pull ends with it\./,
      share: /The share ends with it\./,
      portfolio: /The review continues with its other rows\./,
    };
    for (const [kind, end] of Object.entries(ends)) {
      const run = kind as RunKind;
      assert.match(describeEffects('abandon', { ...inquiry, run }).join(' '), end);
      const all = HOLD_ACTIONS.flatMap((action) => describeEffects(action, { ...inquiry, run })).join(' ');
      const others = Object.entries(RUN_NAMES).flatMap(([other, name]) => (other === kind ? [] : [name]));
      assert.doesNotMatch(all, new RegExp(`\\b(the|this) (${others.join('|')})\\b`, 'i'), run);
    }
    const share = describeEffects('abandon', {
      ...inquiry,
      run: 'journey',
      productCode: 'SECONDUSE',
      shareId: 'S-1',
    });
    assert.match(share.join(' '), /The journey continues without this share\./);
  });

  test('warns before each resend that can post a second inquiry', () => {
    for (const failureType of FAILURE_TYPES) {
      const warns = /second inquiry/.test(
        describeEffects('resend', { ...inquiry, run: 'pull', failureType }).join(' '),
      );
      assert.equal(warns, failureType === 'OutcomeUnknown' || failureType === 'AnotherNumber', failureType);
    }
  });
});
