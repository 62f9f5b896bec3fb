import type { Language } from '@pasteflow/domain';
import type { Words } from '../words/translation.ts';

/** The name of a language on a page. Only that of a text without a language is a word. */
export function languageName({ id, name }: Language, { paste }: Words): string {
  return id === 'text' ? paste.plainText : name;
}
