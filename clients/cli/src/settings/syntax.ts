import { languageNamed, languages, nearestLanguage } from '@pasteflow/domain';
import { UsageError } from '../errors.ts';

/** @returns the language as the pages know it. @throws UsageError with the nearest one */
export function syntaxOf(text: string): string {
  const language = languageNamed(text);
  if (language !== null) return language.id;
  const nearest = nearestLanguage(text);
  const hint =
    nearest === null
      ? `The languages are ${languages.map(({ id }) => id).join(', ')}.`
      : `Did you mean ${nearest}?`;
  throw new UsageError(`The language ${JSON.stringify(text)} is unknown. ${hint}`);
}
