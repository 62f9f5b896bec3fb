import { MAX_TITLE_CHARACTERS } from '@pasteflow/domain';
import { jsonPaste, toOptions } from '@pasteflow/service-kit';
import type { ArchiveFile } from './source/archived-file.ts';
import { InvalidEntryError } from './import-errors.ts';
import type { EntryPaste } from './input.ts';
import type { EntryDefaults } from './parameters.ts';
import { assertContentSize, describeIssues, tooLarge } from './paste-from-object.ts';

const options = jsonPaste.omit({ content: true, parent: true });

/** Creates the paste of a file in an archive. @throws InvalidEntryError */
export function pasteFromFile(
  { name, content }: ArchiveFile,
  { defaults, maxBytes }: { defaults: EntryDefaults; maxBytes: number },
): EntryPaste {
  if (content === null) throw tooLarge(maxBytes);
  const parsed = options.safeParse({ ...defaults, title: titleOf(name) });
  if (!parsed.success) throw new InvalidEntryError(describeIssues(parsed.error));
  assertContentSize(content, maxBytes);
  return { ...toOptions(parsed.data), content };
}

/** The path. One that is too long for a title is shortened at its start, if possible at a folder. */
function titleOf(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_TITLE_CHARACTERS) return name;
  const end = characters.slice(1 - MAX_TITLE_CHARACTERS).join('');
  const folder = end.indexOf('/');
  return folder === -1 ? `…${end}` : `…${end.slice(folder)}`;
}
