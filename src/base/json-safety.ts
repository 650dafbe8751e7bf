/**
 * Reads JSON from outside safely. Its errors quote no input, members of a prototype do not count, and a member that is
 * given twice is reported.
 */

export type JsonObject = { readonly [key: string]: unknown };

/** An own member; `undefined` for one that is absent or comes from a prototype. */
export function member(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The value in an array of one, or `null` where the text is not JSON: `null` is JSON too. */
export function parseJson(text: string): [unknown] | null {
  try {
    return [JSON.parse(text)];
  } catch {
    return null;
  }
}

/**
 * How deep valid JSON nests, and which of `names` an object gives twice. `JSON.parse` keeps the last of them silently.
 *
 * @param text that `JSON.parse` has accepted
 */
export function surveyJson(text: string, names: ReadonlySet<string>): { depth: number; repeated: ReadonlySet<string> } {
  const repeated = new Set<string>();
  /** The names that each open object has had so far; `null` for an open list. */
  const open: (Set<string> | null)[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : null);
      depth = Math.max(depth, open.length);
    } else if (character === '}' || character === ']') {
      open.pop();
    } else if (character === '"') {
      const end = endOfString(text, at);
      const seen = open.at(-1);
      if (seen && isFollowedByColon(text, end)) {
        const quoted = text.slice(at, end);
        const name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
        if (names.has(name)) {
          if (seen.has(name)) repeated.add(name);
          seen.add(name);
        }
      }
      at = end - 1;
    }
  }
  return { depth, repeated };
}

/** The index after the closing quotation mark of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isFollowedByColon(text: string, from: number): boolean {
  let at = from;
  while (' \t\n\r'.includes(text[at] ?? ':')) at++;
  return text[at] === ':';
}
