import assert from 'node:assert/strict';
import { test } from 'node:test';
import { omitUndefined } from '../../src/base/defined.ts';

test('only undefined members are omitted, and the others keep their order', () => {
  const members = { b: 0, a: undefined, empty: '', no: false, list: [] };
  assert.equal(JSON.stringify(omitUndefined(members)), '{"b":0,"empty":"","no":false,"list":[]}');
  assert.ok(!Object.hasOwn(omitUndefined(members), 'a'));
});
