/** Exit codes of every command. Scripts rely on them. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** Wrong usage, input or configuration. */
  usage: 2,
  /** A hold, a posted share that needs an operator, or a broken audit chain. */
  needsPerson: 3,
  /** `doctor` could not find out: what it could check is in order. */
  unchecked: 4,
  /** Ctrl-C, as shells count it. */
  interrupted: 130,
  /** The reader of the output, such as `head`, has closed it. Shells report SIGPIPE by this code. */
  unread: 141,
} as const;
