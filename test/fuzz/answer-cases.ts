/** Draws known answers with changes and encodings that no gateway should use. */
import assert from 'node:assert/strict';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { DECIDING_KEYS, KNOWN_ANSWERS, type KnownAnswer } from './gateway-answers.ts';
import {
  type ByteMutation,
  byteMutations,
  changedBytes,
  changedText,
  type TreeMutation,
  treeMutations,
} from './mutations.ts';
import { usually } from './values.ts';

const ENCODINGS = [
  'utf8',
  'bom',
  'utf16le',
  'utf16be',
  'latin1',
  'gzip',
  'x-gzip',
  'br',
  'deflate',
  'raw deflate',
] as const;
const LABELS = ['', 'identity', 'gzip', 'br', 'deflate', 'zstd', 'gzip, gzip', 'GZIP ', '\u0000'] as const;

/** A few kilobytes that decompress to four megabytes. */
const BOMBS = [
  gzipSync(Buffer.alloc(4_000_000)),
  brotliCompressSync(Buffer.alloc(4_000_000)),
  deflateSync(Buffer.alloc(4_000_000)),
];

export interface AnswerCase {
  known: number;
  tree: TreeMutation[];
  bytes: ByteMutation[];
  encoding: (typeof ENCODINGS)[number];
  /** Changes to the encoded bytes. */
  damage: ByteMutation[];
  /** The `Content-Encoding`, or `null` for the name of the real encoding. */
  label: string | null;
  bomb: number | null;
}

export const answerCases: fc.Arbitrary<AnswerCase> = fc.record({
  known: fc.nat({ max: KNOWN_ANSWERS.length - 1 }),
  tree: treeMutations(DECIDING_KEYS),
  bytes: usually([], 3, byteMutations(3), 2),
  encoding: usually('utf8' as const, 12, fc.constantFrom(...ENCODINGS), 5),
  damage: usually([], 9, byteMutations(2)),
  label: usually(null, 12, fc.constantFrom(...LABELS)),
  bomb: usually(null, 150, fc.nat({ max: BOMBS.length - 1 })),
});

export function knownOf({ known }: Pick<AnswerCase, 'known'>): KnownAnswer {
  const found = KNOWN_ANSWERS[known];
  assert.ok(found);
  return found;
}

/** Returns the body on the wire and the value of its `Content-Encoding`. */
export function wireOf(answer: AnswerCase): { body: Buffer; label: string | undefined } {
  const { tree, bytes, encoding, damage, label, bomb } = answer;
  if (bomb !== null) return { body: BOMBS[bomb] ?? Buffer.alloc(0), label: ['gzip', 'br', 'deflate'][bomb] };
  const text = changedBytes(Buffer.from(changedText(knownOf(answer).body, tree)), bytes);
  const [encoded, name] = encodedAs(text, encoding);
  return { body: changedBytes(encoded, damage), label: label ?? name };
}

function encodedAs(text: Buffer, encoding: AnswerCase['encoding']): [Buffer, string | undefined] {
  switch (encoding) {
    case 'utf8':
      return [text, undefined];
    case 'bom':
      return [Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), text]), undefined];
    case 'utf16le':
      return [Buffer.from(text.toString('utf8'), 'utf16le'), undefined];
    case 'utf16be':
      return [
        Buffer.concat([Buffer.of(0xfe, 0xff), Buffer.from(text.toString('utf8'), 'utf16le').swap16()]),
        undefined,
      ];
    case 'latin1':
      return [Buffer.from(`${text.toString('utf8')} é`, 'latin1'), undefined];
    case 'gzip':
    case 'x-gzip':
      return [gzipSync(text), encoding];
    case 'br':
      return [brotliCompressSync(text, { params: { 1: 1 } }), 'br'];
    case 'deflate':
      return [deflateSync(text), 'deflate'];
    case 'raw deflate':
      return [deflateRawSync(text), 'deflate'];
  }
}
