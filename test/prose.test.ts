/** The gate on comments, names and documents can fail, and its limits only fall. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, describeExcesses, measure, tighten } from '../scripts/prose.ts';

const SOURCE = `/** What a share is for. */
// Nobody reads the address.
// ${'word '.repeat(26)}
export function answerOf(share: string): string {
  const one = share; // The word one in a comment or in 'one' does not count.
  return { ...{ share, text: 'one' + one } }.text;
}

/** Reads a share. */
const told = (share: string) => share;
class Source {
  #read(share: string) {
    return \`one\${share}\`;
  }
}
`;
const NONE = {
  fragments: 0,
  tics: 0,
  longSentences: 0,
  namesInOf: 0,
  participles: 0,
  one: 0,
  freshSpreads: 0,
  words: 0,
};

const places = measure(
  [{ path: 'src/share.ts', text: SOURCE }],
  [{ path: 'docs/shares.md', text: 'Four words\n\non it\n' }],
);

test('each kind of unclear prose is found, with its line', () => {
  assert.deepEqual(count(places), {
    fragments: 1,
    tics: 1,
    longSentences: 1,
    namesInOf: 1,
    participles: 1,
    one: 2,
    freshSpreads: 1,
    words: 4,
  });
  assert.deepEqual(places.namesInOf, [{ where: 'src/share.ts:4 answerOf', count: 1 }]);
  assert.deepEqual(places.participles, [{ where: 'src/share.ts:10 told', count: 1 }]);
});

test('a figure above its limit fails and names its places, and a missing limit is zero', () => {
  const figures = count(places);
  assert.deepEqual(describeExcesses(places, figures), []);
  const excesses = describeExcesses(places, { ...figures, one: 1 });
  assert.equal(excesses.length, 3);
  assert.match(excesses.join('\n'), /limit \(one\) is 1.*\n {2}src\/share\.ts:5 const one = share;/);
  const { words: _, ...incomplete } = figures;
  assert.match(describeExcesses(places, incomplete).join('\n'), /docs\/shares\.md 4/);
});

test('limits are lowered to the figures and never raised', () => {
  const figures = count(places);
  assert.deepEqual(tighten(figures, { ...figures, one: 7 }), figures);
  assert.deepEqual(tighten(figures, NONE), NONE);
});
