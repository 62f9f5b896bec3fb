import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreatedPaste, type NewPasteFields, type Paste, PasteflowApiError } from '@pasteflow/client';
import { copiedOptionNames, fileNameOf, languageNamed, languageOf } from '@pasteflow/domain';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf } from '../errors.ts';
import type { Session } from '../session.ts';
import { expiryOf, pasteNamedBy } from '../settings/named.ts';
import { runProgram } from '../terminal/programs.ts';
import { keepToken } from './put.ts';

/**
 * `pasteflow edit CODE`: the newer version of a paste, made in an editor; of a paste of somebody else, a new paste. The
 * file stays when that fails.
 */
export async function edit(
  session: Session,
  argument: string,
  options: {
    readonly expires?: string;
  },
): Promise<ExitCode> {
  const { client, output, server, signal, terminal } = session;
  const expires = options.expires === undefined ? {} : { expires_in: expiryOf(options.expires) };
  const paste = await client.pastes.get(pasteNamedBy(argument, server), { signal });
  if (paste.encrypted)
    throw new Error('An encrypted paste can not be edited. Read it with `pasteflow cat`, and put a new one.');
  if (paste.superseded_by)
    throw new Error(
      `This paste has a newer version, ${paste.superseded_by}. Edit that one: pasteflow edit ${paste.superseded_by}`,
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
    const created = await save(session, paste, new Uint8Array(after), expires);
    isDone = true;
    const unkept = await keepToken(session.deleteTokens, created);
    output.result(created, [created.url]);
    if (unkept === undefined) return EXIT_DONE;
    output.problem(`The delete token could not be kept: ${messageOf(unkept)}`);
    return EXIT_FAILED;
  } finally {
    if (isDone) await rm(folder, { recursive: true });
    else output.note(`The file that you have edited is ${file}.`);
  }
}

/** Of two editors the later one is refused, and keeps the file. Only the owner of a paste makes its newer version. */
async function save(
  { client, deleteTokens, output, signal }: Session,
  paste: Paste,
  content: Uint8Array<ArrayBuffer>,
  expires: Pick<NewPasteFields, 'expires_in'>,
): Promise<CreatedPaste> {
  const { short_code: code, syntax, visibility } = paste;
  const deleteToken = await deleteTokens.find(code);
  try {
    return await client.pastes.create(content, { supersedes: code, ...expires, deleteToken, signal });
  } catch (error) {
    if (!(error instanceof PasteflowApiError) || error.code !== 'unauthorized') throw error;
  }
  const isKnown = syntax !== null && languageNamed(syntax) !== null; // a paste of an earlier release may have any
  const copied = Object.fromEntries(copiedOptionNames.map((name) => [name, paste[name] ?? '']));
  const fields = { ...copied, syntax: isKnown ? syntax : '', visibility, parent: code, ...expires };
  const created = await client.pastes.create(content, { ...fields, signal });
  output.note('The paste is not yours: what you saved is a new paste, made from it.');
  return created;
}

/** An editor learns the language from the name, and could read a hidden file as a setting of its own. */
function editedFileOf({ title, syntax }: Paste): string {
  const name = fileNameOf(title, 'paste');
  const language = syntax === null ? null : languageNamed(syntax);
  const isNamed = title !== null && (language === null || languageOf({ syntax: null, title }) !== null);
  if (isNamed) return name.startsWith('.') ? `paste${name}` : name;
  return `paste.${language?.extensions[0] ?? 'txt'}`;
}
