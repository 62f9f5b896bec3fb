import type { en } from './en.ts';

/** Every text of the pages in one language, with what Intl and HTML must know of the language. */
export type Words = typeof en;

/** The texts of another language. A text that is missing falls back to English. */
export type Translation = Partially<Words> & Pick<Words, 'locale' | 'name' | 'direction'>;

type Partially<T> = T extends string | ((...values: never[]) => string)
  ? T
  : string extends keyof T // the problems: each has both of its texts
    ? T
    : { readonly [Key in keyof T]?: Partially<T[Key]> };
