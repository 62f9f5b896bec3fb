import { SourceRefusedError } from './source-refused.ts';

/** For a message: of a hostile name as much as identifies it. */
const QUOTED_CHARACTERS = 100;

/** @param name as the archive has it */
export function entryRefused(name: string, why: string): SourceRefusedError {
  const characters = Array.from(name);
  const shown =
    characters.length > QUOTED_CHARACTERS ? `${characters.slice(0, QUOTED_CHARACTERS).join('')}…` : name;
  return new SourceRefusedError(`its entry ${JSON.stringify(shown)} ${why}`);
}

/**
 * The name of an entry as a path inside the archive, without `./` in front. Here a name becomes no more than a title; an archive with a
 * name that would lead elsewhere on somebody's disk is hostile or broken all the same. @throws SourceRefusedError
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
