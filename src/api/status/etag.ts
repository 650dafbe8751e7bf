import { createHash } from 'node:crypto';

/** Of the answer's JSON. */
export function etagOf(body: object): string {
  return `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`;
}
