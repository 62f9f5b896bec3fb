import { isUtf8 } from 'node:buffer';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Bytes,
  type CreatedPaste,
  type NewFile,
  type NewPasteFields,
  type Paste,
  PasteflowApiError,
} from '@pasteflow/client';
import { copiedOptionNames, fileNameOf, languageNamed, languageOf } from '@pasteflow/domain';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf } from '../errors.ts';
import { writeFolder } from '../files/write-folder.ts';
import type { Session } from '../session.ts';
import { expiryOf, pasteNamedBy } from '../settings/named.ts';
import { runProgram } from '../terminal/programs.ts';
import { keepToken } from './put.ts';
import { filesOf } from './several-files.ts';

/**
 * `pasteflow edit CODE`: the newer version of a paste, made in an editor; of a paste of somebody else, a new paste. The
 * files stay when that fails.
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
  let files: EditedFiles | null = null;
  let isDone = false;
  try {
    files = await unpack(session, paste, before, folder);
    const { paths, opened } = files;
    const editor = terminal.env.VISUAL || terminal.env.EDITOR || 'vi';
    // By a shell, as git does, since a variable may have arguments: `code --wait`.
    const code = await runProgram(terminal, ['sh', '-c', `${editor} "$@"`, 'sh', ...opened]);
    if (code !== 0) throw new Error(`The editor ${editor} failed, and no paste was made.`);
    const parts = await Promise.all(paths.map(async (path) => new Uint8Array(await readFile(path))));
    const isSame =
      Buffer.concat(parts).equals(before) &&
      (paste.files ?? []).every(({ size }, index) => parts[index]?.length === size);
    if (isSame) {
      output.note('Nothing was changed, and no paste was made.');
      isDone = true;
      return EXIT_DONE;
    }
    const created = await save(session, paste, parts, expires);
    isDone = true;
    const unkept = await keepToken(session.deleteTokens, created);
    output.result(created, [created.url]);
    if (unkept === undefined) return EXIT_DONE;
    output.problem(`The delete token could not be kept: ${messageOf(unkept)}`);
    return EXIT_FAILED;
  } finally {
    if (isDone || files === null) await rm(folder, { recursive: true });
    else output.note(files.place);
  }
}

interface EditedFiles {
  /** Of all files, in the order of the paste. */
  readonly paths: readonly string[];
  /** Those that the editor opens. */
  readonly opened: readonly string[];
  /** Where they are, for people. */
  readonly place: string;
}

/** Of several files the editor opens those that are text. @throws Error for names that can't be files here */
async function unpack(
  { signal }: Session,
  paste: Paste,
  content: Bytes,
  folder: string,
): Promise<EditedFiles> {
  const files = paste.files ?? null; // a server of an earlier version sends none
  if (files === null) {
    const path = join(folder, editedFileOf(paste));
    await writeFile(path, content, { mode: 0o600 });
    return { paths: [path], opened: [path], place: `The file that you have edited is ${path}.` };
  }
  const named = filesOf(content, files);
  const whole = join(folder, 'files');
  await writeFolder(whole, named, signal);
  const opened = named.filter(({ bytes }) => isUtf8(bytes)).map(({ name }) => join(whole, name));
  if (opened.length === 0) throw new Error('None of the files is text, and no paste was made.');
  const paths = named.map(({ name }) => join(whole, name));
  return { paths, opened, place: `The files that you have edited are in ${whole}.` };
}

/** Of two editors the later one is refused, and keeps the file. Only the owner of a paste makes its newer version. */
async function save(
  { client, deleteTokens, output, signal }: Session,
  paste: Paste,
  parts: readonly Bytes[],
  expires: Pick<NewPasteFields, 'expires_in'>,
): Promise<CreatedPaste> {
  const { short_code: code, syntax, visibility } = paste;
  const content = contentOf(paste, parts);
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

function contentOf(paste: Paste, parts: readonly Bytes[]): Bytes | readonly NewFile[] {
  const [only = new Uint8Array()] = parts;
  return (
    (paste.files ?? null)?.map(({ name, syntax }, index) => ({
      name,
      content: parts[index] ?? '',
      syntax: syntax ?? undefined,
    })) ?? only
  );
}

/** An editor learns the language from the name, and could read a hidden file as a setting of its own. */
function editedFileOf({ title, syntax }: Paste): string {
  const name = fileNameOf(title, 'paste');
  const language = syntax === null ? null : languageNamed(syntax);
  const isNamed = title !== null && (language === null || languageOf({ syntax: null, title }) !== null);
  if (isNamed) return name.startsWith('.') ? `paste${name}` : name;
  return `paste.${language?.extensions[0] ?? 'txt'}`;
}
