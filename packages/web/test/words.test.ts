import { describe, expect, it } from '@jest/globals';
import { ar } from '../src/words/ar.ts';
import { de } from '../src/words/de.ts';
import { en } from '../src/words/en.ts';
import { es } from '../src/words/es.ts';
import { fr } from '../src/words/fr.ts';
import { ja } from '../src/words/ja.ts';
import { languageNames, withEnglish, wordsIn } from '../src/words/words.ts';

/** Every text by its path, for instance `paste.raw`; a text that has arguments with those of the test. */
function textsOf(words: object, path = ''): ReadonlyMap<string, string> {
  const entries = Object.entries(words).flatMap(([key, value]: [string, unknown]) => {
    const name = `${path}${key}`;
    if (name === 'problem.of') return []; // English has none: services/api/test/languages.test.ts
    if (typeof value === 'string') return [[name, value] as const];
    if (typeof value === 'object') return [...textsOf(value ?? {}, `${name}.`)];
    return [[name, String((value as (...values: unknown[]) => unknown)(...ARGUMENTS))] as const];
  });
  return new Map(entries);
}

/** Five and more, so that no language has a form of its own in which the number is a word. */
const ARGUMENTS = [9001, 7002];

/** What the browser and the reader must find in a text of any language. */
const marksOf = (text: string): readonly string[] =>
  (text.replaceAll(/(?<=\d)[.,\s\u00a0\u202f](?=\d)/g, '').match(MARKS) ?? []).toSorted();
const MARKS = /\{\w+\}|NAME|~name|9001|7002|pasteflow cat --from FILE|JavaScript|UTF-8/g;

describe.each([de, fr, es, ja, ar])('the words in $name', (translation) => {
  const english = textsOf(en);
  const texts = textsOf(translation);

  it('have every text, and no other one', () => {
    expect([...texts.keys()].toSorted()).toEqual([...english.keys()].toSorted());
    const empty = [...texts].filter(([, text]) => text.trim() === '').map(([name]) => name);
    expect(empty.filter((name) => name !== 'newPasteRest')).toEqual([]);
  });

  it('keep the placeholders, the arguments and the names of programs', () => {
    const wrong = [...texts].filter(
      ([name, text]) => String(marksOf(text)) !== String(marksOf(english.get(name) ?? '')),
    );
    expect(wrong).toEqual([]);
  });
});

describe('a text that a language does not have', () => {
  it('is the English one, beside the texts that it has', () => {
    const { paste, form } = withEnglish({ locale: 'nl', name: 'x', direction: 'ltr', paste: { raw: 'Ruw' } });
    expect([paste.raw, paste.download, form.title]).toEqual(['Ruw', en.paste.download, en.form.title]);
  });
});

describe('the languages', () => {
  it('name themselves, and an unknown one is English', () => {
    expect(languageNames.map(({ locale, name }) => `${locale} ${name}`)).toEqual([
      'en English',
      'de Deutsch',
      'fr Français',
      'es Español',
      'ja 日本語',
      'ar العربية',
    ]);
    expect(wordsIn('tlh')).toBe(en);
  });
});
