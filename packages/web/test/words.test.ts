import { describe, expect, it } from '@jest/globals';
import { ar } from '../src/words/ar.ts';
import { de } from '../src/words/de.ts';
import { en } from '../src/words/en.ts';
import { es } from '../src/words/es.ts';
import { fr } from '../src/words/fr.ts';
import { ja } from '../src/words/ja.ts';
import { languageNames, withEnglish, wordsIn } from '../src/words/words.ts';

/** Every text by its path, for instance `paste.raw`. @param count the argument of the texts that have one */
function textsOf(words: object, count: number, path = ''): ReadonlyMap<string, string> {
  const entries = Object.entries(words).flatMap(([key, value]: [string, unknown]) => {
    const name = `${path}${key}`;
    if (typeof value === 'string') return [[name, value] as const];
    if (typeof value === 'object') return [...textsOf(value ?? {}, count, `${name}.`)];
    return [[name, String((value as (...values: unknown[]) => unknown)(count, 7002))] as const];
  });
  return new Map(entries);
}

/** For each form of the plural in which a language writes the number: other, few and many, and millions. */
const COUNTS = [9001, 9003, 9011, 9_000_000];

/** What the browser and the reader must find in a text of any language. */
const marksOf = (text: string): readonly string[] =>
  (text.replaceAll(/(?<=\d)[.,\s\u00a0\u202f](?=\d)/g, '').match(MARKS) ?? []).toSorted();
const MARKS =
  /\{\w+\}|NAME|~name|9\d{3,}|7002|pasteflow cat --from FILE|pasteflow put --secret|JavaScript|UTF-8/g;

/** The name of a button or a link for assistive technology, and the text that it shows. */
const NAMED = [
  ['diff.rawOf', 'paste.raw'],
  ['history.compareWith', 'history.compare'],
  ['history.restoreOne', 'history.restore'],
  ['myPastes.copyLinkOf', 'created.copyLink'],
  ['requests.openOne', 'requests.open'],
  ['webhooks.sendOneAgain', 'webhooks.sendAgain'],
  ['mySessions.endOne', 'mySessions.endButton'],
  ['myTokens.revokeOne', 'myTokens.revoke'],
] as const;

describe.each([de, fr, es, ja, ar])('the words in $name', (translation) => {
  it('have every text, and no other one', () => {
    const texts = textsOf(translation, 0);
    const own = [...texts.keys()].filter((name) => !name.startsWith('problem.of.')); // English has none
    expect(own.toSorted()).toEqual([...textsOf(en, 0).keys()].toSorted());
    const empty = [...texts].filter(([, text]) => text.trim() === '').map(([name]) => name);
    expect(empty.filter((name) => name !== 'newPasteRest')).toEqual([]);
  });

  it('name a button by what it shows, so that who speaks to a computer can press it', () => {
    const texts = textsOf(wordsIn(translation.locale), 9001);
    const parts = NAMED.map(([name, shown]) => [
      name,
      shown,
      texts.get(name)?.toLowerCase(),
      texts.get(shown)?.toLowerCase(),
    ]);
    expect(parts.filter(([, , name, shown]) => !name!.includes(shown!))).toEqual([]);
  });

  it.each(COUNTS)('keep the placeholders, the arguments and the names of programs, with %d', (count) => {
    const texts = textsOf(translation, count);
    const wrong = [...textsOf(en, count)].filter(
      ([name, text]) => String(marksOf(text)) !== String(marksOf(texts.get(name) ?? '')),
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
