/** The search of the privacy test finds each sentinel in every spelling and place. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type Sentinel, SentinelSearch } from './sentinels.ts';

const PERSON: Sentinel[] = [
  { name: 'last name', value: 'Mistralogue' },
  { name: 'SSN', value: '912345678' },
  { name: 'phone', value: '2025550187' },
  { name: 'birth date', value: '1937-02-27' },
  { name: 'street', value: '4711 Sentinelweg' },
  { name: 'zip', value: '00544' },
];
const search = new SentinelSearch(PERSON);

/** Puts the text between meaningless bytes. None is a letter or a digit, which would extend the text. */
function namesIn(text: string | Uint8Array): string[] {
  const noise = randomBytes(512).map((byte) => byte | 0x80);
  return search.find(Buffer.concat([noise, Buffer.from(text as string), noise])).map(({ sentinel }) => sentinel.name);
}

test('a value is found in each of its spellings', () => {
  const texts: [string, string | Uint8Array][] = [
    ['last name', 'x Mistralogue x'],
    ['last name', 'mISTRALOGUE'],
    ['last name', Buffer.from('Mistralogue').toString('hex').toUpperCase()],
    ['last name', Buffer.from('MISTRALOGUE').toString('hex')],
    ['last name', Buffer.from('Mistralogue', 'utf16le')],
    ['last name', Buffer.from('MISTRALOGUE', 'utf16le').swap16()],
    ['last name', '%4D%69%73%74%72%61%6C%6F%67%75%65'],
    ['SSN', ' 912345678 '],
    ['SSN', '7912345678'],
    ['SSN', '912-34-5678'],
    ['SSN', '912 34 5678'],
    ['SSN', Buffer.from('912-34-5678').toString('hex')],
    ['phone', '+1 (202) 555-0187'],
    ['phone', '202.555.0187'],
    ['phone', Buffer.from('2025550187', 'utf16le')],
    ['birth date', '02/27/1937'],
    ['birth date', '19370227'],
    ['birth date', 'born 19370227, of age'],
    ['birth date', '27.02.1937'],
    ['street', '4711%20Sentinelweg'],
    ['street', '4711+SENTINELWEG'],
    ['street', '4711sentinelweg'],
    ['zip', '"00544"'],
    ['zip', 'zip00544'],
    ['zip', 'zip=00544&city'],
  ];
  for (const [name, text] of texts) assert.deepEqual([...new Set(namesIn(text))], [name], String(text));
});

test('a value is found in base64 at every offset', () => {
  for (const { name, value } of PERSON.filter(({ value }) => value.length > 5)) {
    for (const text of [value, value.toUpperCase(), value.toLowerCase()]) {
      for (const before of ['', 'a', 'ab', '{"deep":"']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const encoded = Buffer.from(`${before}${text}{"after"`).toString(encoding);
          assert.ok(namesIn(encoded).includes(name), `${text} after ${before.length} bytes in ${encoding}`);
        }
      }
    }
  }
});

test('digits of a fraction of a second or of a longer number are no finding', () => {
  const figures = ['2026-01-05T10:00:00.912345678Z', '0.0912345678', '"nanos":912345678', '"nanos":193702271'];
  for (const text of [...figures, 'pid 100544', '0.00544', 'Mistralogu']) assert.deepEqual(namesIn(text), [], text);
});

test('five digits within an id or a digest are no finding; five digits beside an id are', () => {
  const ids = [
    'run 01a2f005-44bc-7c00-a544-0a00544f12c3 of',
    ' journey-T-4b00544f-d332 ',
    '"qgjncz00544auv3ofqnze"',
    ' 7a8c00544b5ed3f06a1c ',
  ];
  for (const text of ids) assert.deepEqual(namesIn(text), [], text);
  assert.deepEqual(namesIn('01a20025-4bce-7c00-a544-0a1b5d4f12c3 "00544"'), ['zip']);
});

test('a finding shows the form of the text around it, and none of its letters and digits', () => {
  const [found] = search.find(Buffer.from('{"first":"Ann","zip":"00544","x":7}'));
  assert.equal(found?.around, 'a":"aaa","aaa":"00000","a":0}');
});

test('every finding is reported once for each spelling', () => {
  const found = search.find(Buffer.from('Mistralogue 912-34-5678 912345678 Mistralogue'));
  assert.deepEqual(
    found.map(({ sentinel, spelling }) => `${sentinel.name} ${spelling}`),
    ['last name as it is', 'SSN dashes', 'SSN as it is'],
  );
});
