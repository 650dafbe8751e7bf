/** A text in place of personal data, which the product must never print. */
import assert from 'node:assert/strict';
import { inspect } from 'node:util';

export const SENTINEL = 'QZSENTINELQZ';

/** The SSNs of the applicants in the cases. They must not be printed either. */
export const SSNS = ['912345678', '998765432'] as const;

const PERSONAL = [SENTINEL, ...SSNS, '912-34-5678', "O'BRIEN", "O'Brien", 'Springfield', 'ada@example.com'];

export function assertNothingPersonal(text: string, where: string): void {
  for (const value of PERSONAL) assert.ok(!text.includes(value), `${where} repeats ${value}`);
}

/** Asserts that nothing that a log can print of an error is personal. */
export function assertSafeError(error: unknown, where: string): void {
  assert.ok(error instanceof Error, `${where}: something that is no error was thrown`);
  assertNothingPersonal(`${error.message}\n${error.stack}\n${inspect(error, { depth: 6 })}`, `${where}: ${error.name}`);
}
