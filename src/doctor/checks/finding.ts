/** What a check finds, and how it says so. */

export interface Finding {
  /** `unchecked`: doctor could not find out. That says nothing about what it wanted to check. */
  status: 'pass' | 'warn' | 'fail' | 'unchecked';
  /** One sentence. Nothing personal, no secret, no value of a variable that is wrong. */
  detail: string;
  /** Absent with `pass`: what the operator should do about it. */
  toDo?: string;
}

/** Thrown by a check that has nothing to look at; its message is shown. */
export class NotCheckedError extends Error {
  override readonly name = 'NotCheckedError';
  readonly toDo: string;

  constructor(why: string, toDo = 'put that right first') {
    super(why);
    this.toDo = toDo;
  }
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

/** @param why what kept doctor from checking, without the name of the check */
export function unchecked(why: string, toDo: string): Finding {
  return { status: 'unchecked', detail: `doctor could not check this: ${why}`, toDo };
}

/** `1 key`, `2 keys`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
