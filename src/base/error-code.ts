/** Reads the code of a system's error. Its message would contain a path, or a value. */

/** Returns `ENOENT` and the like; `otherwise` for an error without a code. */
export function getErrorCode(error: unknown, otherwise = 'unreadable'): string {
  return error instanceof Error && 'code' in error ? String(error.code) : otherwise;
}
