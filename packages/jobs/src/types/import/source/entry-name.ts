import { SourceRefusedError } from './source-refused.ts';

/** Characters of a name in error texts, because a hostile archive may have very long names. */
const QUOTED_CHARACTERS = 100;

/** @param name the name as stored in the archive @param why a clause such as "is a link" */
export function entryRefused(name: string, why: string): SourceRefusedError {
  const characters = Array.from(name);
  const shown =
    characters.length > QUOTED_CHARACTERS ? `${characters.slice(0, QUOTED_CHARACTERS).join('')}…` : name;
  return new SourceRefusedError(`its entry ${JSON.stringify(shown)} ${why}`);
}

/**
 * Normalises the name of an entry to a relative path without `./`. A name only becomes a title here, but an archive with a name that leads
 * out of its folder is hostile or damaged. @throws SourceRefusedError for such a name
 */
export function entryName(name: string): string {
  if (name.includes('\0')) throw entryRefused(name, 'has a NUL in its name');
  if (name.includes('\\')) throw entryRefused(name, 'has a backslash in its name');
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw entryRefused(name, 'has an absolute name');
  const parts = name.split('/');
  if (parts.includes('..')) throw entryRefused(name, 'has a name with ".."');
  if (name === '') throw entryRefused(name, 'has no name');
  return parts.filter((part) => part !== '.' && part !== '').join('/');
}
