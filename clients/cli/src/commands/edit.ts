import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Paste } from '@pasteflow/client';
import { copiedOptionNames, fileNameOf, languageNamed, languageOf } from '@pasteflow/domain';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf } from '../errors.ts';
import type { Session } from '../session.ts';
import { expiryOf, pasteNamedBy } from '../settings/named.ts';
import { runProgram } from '../terminal/programs.ts';
import { keepToken } from './put.ts';

/** `pasteflow edit CODE`: a new paste, made from this one in an editor. The file stays when that fails. */
export async function edit(
  session: Session,
  argument: string,
  options: {
    readonly expires?: string;
    readonly move?: boolean;
  },
): Promise<ExitCode> {
  const { client, output, server, signal, terminal } = session;
  const expires = options.expires === undefined ? {} : { expires_in: expiryOf(options.expires) };
  const paste = await client.pastes.get(pasteNamedBy(argument, server), { signal });
  if (paste.encrypted)
    throw new Error('An encrypted paste can not be edited. Read it with `pasteflow cat`, and put a new one.');
  const slug = options.move === true ? paste.slug : null;
  if (options.move === true && slug === null)
    throw new Error(
      'This paste has no slug that could be moved. Edit it without --move, or name it by its slug.',
    );
  const content = await client.pastes.content(paste.short_code, { signal });
  const before = await content.bytes();
  const folder = await mkdtemp(join(tmpdir(), 'pasteflow-')); // which only its owner may enter
  const file = join(folder, editedFileOf(paste));
  let isDone = false;
  try {
    await writeFile(file, before, { mode: 0o600 });
    const editor = terminal.env.VISUAL || terminal.env.EDITOR || 'vi';
    // By a shell, as git does, since a variable may have arguments: `code --wait`.
    const code = await runProgram(terminal, ['sh', '-c', `${editor} "$1"`, 'sh', file]);
    if (code !== 0) throw new Error(`The editor ${editor} failed, and no paste was made.`);
    const after = await readFile(file);
    if (after.equals(before)) {
      output.note('Nothing was changed, and no paste was made.');
      isDone = true;
      return EXIT_DONE;
    }
    const { short_code: parent, syntax, visibility } = paste;
    const isKnown = syntax !== null && languageNamed(syntax) !== null; // a paste of an earlier release may have any
    const copied = Object.fromEntries(copiedOptionNames.map((name) => [name, paste[name] ?? '']));
    const fields = { ...copied, syntax: isKnown ? syntax : '', visibility, parent, ...expires };
    const created = await client.pastes.create(new Uint8Array(after), { ...fields, signal });
    isDone = true;
    const unkept = await keepToken(session.deleteTokens, created);
    output.result(created, [created.url]);
    if (slug !== null) await moveTo(session, slug, paste, created);
    if (unkept === undefined) return EXIT_DONE;
    output.problem(`The delete token could not be kept: ${messageOf(unkept)}`);
    return EXIT_FAILED;
  } finally {
    if (isDone) await rm(folder, { recursive: true });
    else output.note(`The file that you have edited is ${file}.`);
  }
}

/** Only to a stored paste: the new one is kept, and its URL printed, whatever happens here. */
async function moveTo({ client, signal }: Session, slug: string, from: Paste, to: Paste): Promise<void> {
  await client.pastes.wait(to.short_code, { signal });
  await client.slugs.move(slug, { short_code: to.short_code, from: from.short_code }, { signal });
}

/** An editor learns the language from the name, and could read a hidden file as a setting of its own. */
function editedFileOf({ title, syntax }: Paste): string {
  const name = fileNameOf(title, 'paste');
  const language = syntax === null ? null : languageNamed(syntax);
  const isNamed = title !== null && (language === null || languageOf({ syntax: null, title }) !== null);
  if (isNamed) return name.startsWith('.') ? `paste${name}` : name;
  return `paste.${language?.extensions[0] ?? 'txt'}`;
}
