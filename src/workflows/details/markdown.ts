/** The Markdown of current details. Values are escaped, so that none acts as markup. Pure. */

import { AS_TEXT, type Writer } from '../../messages/standing-words.ts';

/** A value within a sentence or a cell. */
export function plain(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[\\`*_{}[\]()<>#|~!&]/g, '\\$&');
}

/** A value that is to be copied; nothing where there is none. */
export function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text.replaceAll(/[`\r\n|]/g, ' ')}\``;
}

export const { time } = AS_TEXT;

/** For sentences that are written here as elsewhere. */
export const MARKDOWN: Writer = { plain, time };

/** One line of a list: what it is, and the facts about it that there are. */
export function listLine(name: string, facts: readonly string[]): string {
  return `- **${name}**: ${facts.filter((fact) => fact !== '').join(', ')}`;
}

/** Where the runbook is served, the page's address; else its path in the documentation. */
export function pageLink(page: string, runbookUrl: string | undefined): string {
  const name = page.slice(page.lastIndexOf('/') + 1);
  return runbookUrl === undefined ? code(page) : `[${name}](${runbookUrl}/${name})`;
}

/** Text that is copied as it stands. Backticks in it would end the block. */
export function block(text: string): string {
  return `\`\`\`\n${text.replaceAll('```', "'''")}\n\`\`\``;
}
