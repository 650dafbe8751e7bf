/** Changes to the parts of an answer that every product has: applicants' entries, and members at the top. */
import type { Body, ContentFault } from './fault.ts';

export type Entry = Record<string, unknown>;

/** The names of the list of applicants' entries, in answers and in variants of them. */
const LIST_NAMES = ['consumers', 'applicants'] as const;

/** The body with each applicant's entry changed, under any name of the product's list. */
export function withEntries(body: Body, change: (entries: Entry[]) => Entry[]): Body {
  const name = LIST_NAMES.find((listName) => listName in body);
  return name === undefined ? body : { ...body, [name]: change(body[name] as Entry[]) };
}

export function without(entry: Entry, ...names: string[]): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name)));
}

/** Removes a member at the top, where most products have it, and in FAILSAFE's entries. */
export function withoutEverywhere(body: Body, name: string): Body {
  return withEntries(without(body, name), (entries) => entries.map((entry) => without(entry, name)));
}

/** Sets a member at the top, or in each of FAILSAFE's entries. */
export function setEverywhere(body: Body, name: string, value: string): Body {
  if ('consumers' in body) return withEntries(body, (entries) => entries.map((entry) => ({ ...entry, [name]: value })));
  return { ...body, [name]: value };
}

export function changeSsn(entry: Entry, change: (ssn: string) => string): Entry {
  const consumer = entry.consumer as Entry | undefined;
  return consumer ? { ...entry, consumer: { ...consumer, ssn: change(String(consumer.ssn)) } } : entry;
}

/** A fault that needs applicants in the answer. */
export function report(name: string, what: string, change: ContentFault['change']): ContentFault {
  return { name, stage: 'content', products: 'reports', what, change };
}

/** A fault of any product's answer. */
export function any(name: string, what: string, change: ContentFault['change']): ContentFault {
  return { name, stage: 'content', what, change };
}
