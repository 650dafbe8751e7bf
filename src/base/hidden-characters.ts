/** Characters that change how a text reads without being seen. Refused in each name and reason that people read. */

/**
 * Control, surrogate and private characters, which no version of Unicode changes. Soft hyphens, zero-width characters
 * and those that turn the direction of writing are here by their numbers. So every runtime agrees on the list, and it may
 * decide about a signal that is judged again on replay.
 */
export const HIDDEN_CHARACTER =
  /[\p{Cc}\p{Cs}\p{Co}\u{ad}\u{61c}\u{180e}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{fff9}-\u{fffb}\u{e0001}\u{e0020}-\u{e007f}]/u;
