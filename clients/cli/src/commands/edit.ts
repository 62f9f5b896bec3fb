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
import {
  copiedOptionNames,
  fileNameOf,
  fileNameProblems,
  languageNamed,
  languageOf,
} from '@pasteflow/domain';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf } from '../errors.ts';
import { type EditedFile, type FileChange, readEdited, unpackFiles } from '../files/edited-folder.ts';
import type { Session } from '../session.ts';
import { expiryOf, pasteNamedBy } from '../settings/named.ts';
import { runProgram } from '../terminal/programs.ts';
import { confirms } from '../terminal/terminal.ts';
import { keepToken } from './put.ts';
import { filesOf } from './several-files.ts';

interface EditOptions {
  readonly expires?: string;
  readonly folder?: boolean;
  readonly yes?: boolean;
}

/**
 * `pasteflow edit CODE`: the newer version of a paste, made in an editor; of a paste of somebody else, a new paste. The
 * files stay when that fails.
 */
export async function edit(session: Session, argument: string, options: EditOptions): Promise<ExitCode> {
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
  let work: Work | null = null;
  let isDone = false;
  try {
    work = await unpack(session, paste, before, { folder, isWhole: options.folder === true });
    const editor = terminal.env.VISUAL || terminal.env.EDITOR || 'vi';
    // By a shell, as git does, since a variable may have arguments: `code --wait`.
    const code = await runProgram(terminal, ['sh', '-c', `${editor} "$@"`, 'sh', ...work.opened]);
    if (code !== 0) throw new Error(`The editor ${editor} failed, and no paste was made.`);
    const { content: edited, changes } = await work.read();
    if (changes.length === 0) {
      output.note('Nothing was changed, and no paste was made.');
      isDone = true;
      return EXIT_DONE;
    }
    if (changes.some(({ kind }) => kind !== 'changed') && options.yes !== true)
      await confirm(session, changes);
    const created = await save(session, paste, edited, expires);
    isDone = true;
    const unkept = await keepToken(session.deleteTokens, created);
    output.result(created, [created.url]);
    if (unkept === undefined) return EXIT_DONE;
    output.problem(`The delete token could not be kept: ${messageOf(unkept)}`);
    return EXIT_FAILED;
  } finally {
    if (isDone || work === null) await rm(folder, { recursive: true });
    else output.note(work.place);
  }
}

interface Work {
  readonly opened: readonly string[];
  /** Where the files are, for people. */
  readonly place: string;
  /** What is there after the editor has ended. */
  readonly read: () => Promise<{ readonly content: NewContent; readonly changes: readonly FileChange[] }>;
}

type NewContent = Bytes | readonly NewFile[];

/**
 * The editor opens those of several files that are text, or the folder of all.
 * @throws Error for names that can't be files here
 */
async function unpack(
  { output, signal }: Session,
  paste: Paste,
  content: Bytes,
  { folder, isWhole }: { readonly folder: string; readonly isWhole: boolean },
): Promise<Work> {
  const files = paste.files ?? null; // a server of an earlier version sends none
  if (files === null && !isWhole) {
    const name = editedFileOf(paste);
    const path = join(folder, name);
    await writeFile(path, content, { mode: 0o600 });
    const read = async () => {
      const edited = new Uint8Array(await readFile(path));
      const isSame = Buffer.from(edited).equals(content);
      return { content: edited, changes: isSame ? [] : [{ kind: 'changed', name } as const] };
    };
    return { opened: [path], place: `The file that you have edited is ${path}.`, read };
  }
  const before = files === null ? [onlyFileOf(paste, content)] : filesOf(content, files);
  const whole = join(folder, 'files');
  const texts = await unpackFiles(whole, before, signal);
  if (texts.length === 0 && !isWhole)
    throw new Error('None of the files is text, and no paste was made. Edit their folder with --folder.');
  output.note(`The files are in ${whole}. What you add, rename or remove there changes the paste, too.`);
  const read = async () => {
    const edited = await readEdited(whole, before, signal);
    const [first, second] = edited.files;
    const isStillOne = files === null && second === undefined && first?.name === before[0]?.name;
    return {
      ...edited,
      content: isStillOne && first !== undefined ? first.bytes : edited.files.map(newFileOf),
    };
  };
  return {
    opened: isWhole ? [whole] : texts,
    place: `The files that you have edited are in ${whole}.`,
    read,
  };
}

const newFileOf = ({ name, bytes, syntax }: EditedFile): NewFile => ({
  name,
  content: bytes,
  syntax: syntax ?? undefined,
});

/** A person sees which files the newer version has, before it has them. @throws Error without a yes */
async function confirm({ output, terminal, signal }: Session, changes: readonly FileChange[]): Promise<void> {
  for (const { kind, name, to } of changes)
    output.note(`  ${kind.padEnd(7)}  ${name}${to === undefined ? '' : ` -> ${to}`}`);
  if (terminal.stdin.isTTY !== true)
    throw new Error(
      'The files are others than before, and nobody can be asked here. No paste was made: --yes would make it.',
    );
  if (!(await confirms(terminal, 'Save these changes?', signal))) throw new Error('No paste was made.');
}

/** Of two editors the later one is refused, and keeps the file. Only the owner of a paste makes its newer version. */
async function save(
  { client, deleteTokens, output, signal }: Session,
  paste: Paste,
  content: NewContent,
  expires: Pick<NewPasteFields, 'expires_in'>,
): Promise<CreatedPaste> {
  const { short_code: code, visibility } = paste;
  const deleteToken = await deleteTokens.find(code);
  try {
    return await client.pastes.create(content, { supersedes: code, ...expires, deleteToken, signal });
  } catch (error) {
    if (!(error instanceof PasteflowApiError) || error.code !== 'unauthorized') throw error;
  }
  const isFiles = !(content instanceof Uint8Array);
  const isOneFile = isFiles && content.length === 1; // its name is the title
  const names = copiedOptionNames.filter((name) => !(isOneFile && name === 'title'));
  const copied = Object.fromEntries(names.map((name) => [name, paste[name] ?? '']));
  const syntax = isFiles ? '' : (syntaxOf(paste) ?? '');
  const fields = { ...copied, syntax, visibility, parent: code, ...expires };
  const created = await client.pastes.create(content, { ...fields, signal });
  output.note('The paste is not yours: what you saved is a new paste, made from it.');
  return created;
}

/** A paste of an earlier release may have a language that is not known. */
function syntaxOf({ syntax }: Paste): string | null {
  return syntax !== null && languageNamed(syntax) !== null ? syntax : null;
}

function onlyFileOf(paste: Paste, bytes: Bytes): EditedFile {
  const name = editedFileOf(paste);
  return { name: fileNameProblems([name]).length === 0 ? name : 'paste.txt', bytes, syntax: syntaxOf(paste) };
}

/** An editor learns the language from the name, and could read a hidden file as a setting of its own. */
function editedFileOf({ title, syntax }: Paste): string {
  const name = fileNameOf(title, 'paste');
  const language = syntax === null ? null : languageNamed(syntax);
  const isNamed = title !== null && (language === null || languageOf({ syntax: null, title }) !== null);
  if (isNamed) return name.startsWith('.') ? `paste${name}` : name;
  return `paste.${language?.extensions[0] ?? 'txt'}`;
}
