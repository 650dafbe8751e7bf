/** The members that may be `undefined` become optional; none may be `null`. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without those of its members that are `undefined`; `''`, `0` and `false` stay. Pure. */
export function omitUndefined<T extends { [K in keyof T]: NonNullable<unknown> | undefined }>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** The object with these members alone, as far as it has them. Pure. */
export function pick<T extends object, Name extends keyof T>(object: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.flatMap((name) => (name in object ? [[name, object[name]]] : []))) as Pick<T, Name>;
}
