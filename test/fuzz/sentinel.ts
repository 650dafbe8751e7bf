/** A text that the product must never print: it stands for personal data. */
import assert from 'node:assert/strict';
import { inspect } from 'node:util';

export const SENTINEL = 'QZSENTINELQZ';

/** SSNs of the cases' applicants: as personal as the sentinel. */
export const SSNS = ['912345678', '998765432'] as const;

const PERSONAL = [SENTINEL, ...SSNS, '912-34-5678', "O'BRIEN", "O'Brien", 'Springfield', 'ada@example.com'];

export function assertNothingPersonal(text: string, where: string): void {
  for (const value of PERSONAL) assert.ok(!text.includes(value), `${where} repeats ${value}`);
}

/** An error with everything that a log could write of it. */
export function assertSafeError(error: unknown, where: string): void {
  assert.ok(error instanceof Error, `${where}: something that is no error was thrown`);
  assertNothingPersonal(`${error.message}\n${error.stack}\n${inspect(error, { depth: 6 })}`, `${where}: ${error.name}`);
}
