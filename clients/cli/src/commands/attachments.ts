import type { Attachment } from '@pasteflow/sealed';
import { writeAtomically } from '../files/write-atomically.ts';
import type { Session } from '../session.ts';

/** What stderr shows of the names: each may have megabytes, and there may be any number of them. */
const MAX_NAME_CHARACTERS = 100;
const MAX_NAMES = 20;

/**
 * Writes the first attachments of a paste into these files. The names in the paste are texts of strangers:
 * they are shown, and never used as paths.
 * @returns the attachments that no file was named for
 * @throws Error when there are more files than attachments; nothing was written
 */
export async function saveAttachments(
  { output, signal }: Session,
  attachments: readonly Attachment[],
  files: readonly string[],
): Promise<readonly Attachment[]> {
  if (files.length > attachments.length)
    throw new Error(
      `--attachment names ${files.length} files, but the paste has ${attachments.length} attachments. No attachment was saved.`,
    );
  for (const [index, { name, bytes }] of attachments.slice(0, files.length).entries()) {
    signal.throwIfAborted();
    const file = files[index] ?? '';
    await writeAtomically(file, (handle) => handle.writeFile(bytes), { followsLink: true });
    output.note(`The attachment ${shown(name)} is in ${file}`);
  }
  return attachments.slice(files.length);
}

/** Says which attachments nobody has got. */
export function noteLeftOut({ output }: Session, attachments: readonly Attachment[]): void {
  if (attachments.length === 0) return;
  const names = attachments.slice(0, MAX_NAMES).map(({ name }) => shown(name));
  const others = attachments.length - names.length;
  const all = others === 0 ? names.join(', ') : `${names.join(', ')} and ${others} others`;
  output.note(
    `These attachments of the paste are not printed: ${all}. To save them, add --attachment FILE for each one, in this order; --file NAME for one; or -o FOLDER/ for all.`,
  );
}

function shown(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name;
}
