import { languageNamed, languageOf, type Language } from '@pasteflow/domain';

/** A longer text is not parsed while somebody types. */
const MAX_PARSED_CHARACTERS = 1_000_000;

/** The language of a text, where it is certain: by a name, a first line, a patch, or as valid JSON. */
export function detected({
  names,
  text,
}: {
  readonly names: readonly string[];
  readonly text: string;
}): Language | null {
  for (const title of names) {
    const language = languageOf({ syntax: null, title });
    if (language !== null) return language;
  }
  const language = languageOf({ syntax: null, title: null }, text);
  if (language !== null) return language;
  return isJson(text) ? languageNamed('json') : null;
}

/** An object or an array: a number and a quoted text are more often something else. */
function isJson(text: string): boolean {
  if (text.length > MAX_PARSED_CHARACTERS || !/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
