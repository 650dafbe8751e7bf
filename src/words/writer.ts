/**
 * Writes the names and values of a sentence for each surface: as text for the command line and the API, as Markdown for
 * the Temporal UI. The sentences are the same.
 */
export interface Writer {
  plain(text: string): string;
  strong(sentence: string): string;
  /** A value to be copied. */
  code(text: string): string;
  /** `2026-01-02T03:04:05.678Z` → `2026-01-02 03:04 UTC` */
  time(instant: string): string;
  reference(text: string): string;
  /** A page of the documentation, by its path. */
  page(path: string): string;
}

function time(instant: string): string {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`;
}

export const AS_TEXT: Writer = {
  plain: (text) => text,
  strong: (sentence) => sentence,
  code: (text) => text,
  time,
  reference: (text) => `reference ${text}`,
  page: (path) => path,
};

/** Values are escaped, so that none acts as markup. @param runbookUrl where the runbook is served */
export function createMarkdownWriter(runbookUrl?: string): Writer {
  return {
    plain: escapeMarkdown,
    strong: (sentence) => `**${sentence}**`,
    code: (text) => `\`${text.replaceAll(/[`\r\n|]/g, ' ')}\``,
    time,
    // A whole reference is half of the data that posts a share.
    reference: (text) => `reference …${escapeMarkdown(text.slice(-4))}`,
    page: (path) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      return runbookUrl === undefined ? `\`${path}\`` : `[${name}](${runbookUrl}/${name})`;
    },
  };
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[\\`*_{}[\]()<>#|~!&]/g, '\\$&');
}

/** Writes text to be copied, unchanged. Backticks in it would end the block. */
export function formatCodeBlock(text: string): string {
  return `\`\`\`\n${text.replaceAll('```', "'''")}\n\`\`\``;
}

/** `2026-01-02T03:04:05.678Z` → `2026-01-02T03:04:05Z` */
export function dropMilliseconds(instant: string): string {
  return instant.replace(/\.\d+/, '');
}

/** `awaitingConsent` → `awaiting consent` */
export function splitCamelCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

export function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `unmatchedConsents` of `unmatched-consents`. */
export function toCamelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
