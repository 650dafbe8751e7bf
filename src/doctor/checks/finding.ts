/** What a check finds, and how it says so. */

export interface Finding {
  status: 'pass' | 'warn' | 'fail';
  /** One sentence. Nothing personal, no secret, no value of a variable that is wrong. */
  detail: string;
  /** With `warn` and `fail`: what the operator should do about it. */
  toDo?: string;
}

/** Thrown by a check that has nothing to look at; its message is shown. */
export class NotCheckedError extends Error {
  override readonly name = 'NotCheckedError';
}

export function pass(detail: string): Finding {
  return { status: 'pass', detail };
}

export function warn(detail: string, toDo: string): Finding {
  return { status: 'warn', detail, toDo };
}

export function fail(detail: string, toDo: string): Finding {
  return { status: 'fail', detail, toDo };
}

/** `1 key`, `2 keys`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
