import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ja } from './ja.ts';
import type { Translation, Words } from './translation.ts';

const languages = [en, ...[de, fr, es, ja, ar].map((each) => withEnglish(each))];

/** What a reader can choose, in the order of the switch: `de` with `Deutsch`. */
export const languageNames: readonly Pick<Words, 'locale' | 'name'>[] = languages;

/** @param locale of `languageNames`; another one is English */
export function wordsIn(locale: string): Words {
  return languages.find((each) => each.locale === locale) ?? en;
}

/** The words of a language, with the English ones where it has none. */
export function withEnglish(translation: Translation): Words {
  return merge(en, translation) as Words;
}

function merge(english: object, translation: object): object {
  const entries = Object.entries(translation).map(([key, value]: [string, unknown]) => {
    const original = (english as Readonly<Record<string, unknown>>)[key];
    const isGroup = typeof original === 'object' && original !== null;
    return [key, isGroup ? merge(original, value as object) : value];
  });
  return { ...english, ...(Object.fromEntries(entries) as object) };
}
