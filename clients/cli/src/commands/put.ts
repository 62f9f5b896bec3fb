import { basename } from 'node:path';
import type { Content, CreatedPaste, NewPasteFields } from '@pasteflow/client';
import { contentOptionNames, pasteOptions, type OptionInOneValue } from '@pasteflow/domain';
import { Option } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import { fragmentOfKey, MAX_MESSAGE_BYTES, messageOfFile, seal, textOfSealed } from '@pasteflow/sealed';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf, UsageError } from '../errors.ts';
import { type ContentSource, openContent } from '../files/content-source.ts';
import { askForPassword, presetPassword } from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import type { DeleteTokens } from '../settings/config-file.ts';
import { expiryOf, pasteNamedBy, syntaxOf } from '../settings/named.ts';
import { copyToClipboard } from '../terminal/programs.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';
import { safeText } from '../terminal/output.ts';

interface PasteFlag {
  /** As commander reads it. */
  readonly flags: string;
  readonly description: string;
  /** The field that is sent; an option without a value is `true`. Default: what was given. */
  readonly fieldOf?: (given: string, server: string) => string | number;
}

/** How a command line names each option of a paste. `--encrypt` is more than an option of the paste. */
export const pasteFlags: Readonly<Record<Exclude<OptionInOneValue, 'encrypted'>, PasteFlag>> = {
  title: {
    flags: '-t, --title <title>',
    description: 'the title; otherwise the name of the file',
  },
  syntax: {
    flags: '-s, --syntax <language>',
    description: 'the language; otherwise the title or the first line tells',
    fieldOf: syntaxOf,
  },
  expires_in: {
    flags: '-e, --expires <time>',
    description: 'when it expires: 30m, 12h, 7d or never',
    fieldOf: expiryOf,
  },
  visibility: { flags: '--private', description: 'only you can read it', fieldOf: () => 'private' },
  burn: { flags: '--burn', description: 'the paste is deleted when it is read' },
  slug: {
    flags: '--slug <name>',
    description: 'a name for the URL: 3 to 64 lower-case letters, digits and hyphens',
  },
  parent: { flags: '--parent <paste>', description: 'the paste it is made from', fieldOf: pasteNamedBy },
  supersedes: { flags: '--supersedes <paste>', description: 'its older version', fieldOf: pasteNamedBy },
};

/** The options of `pasteFlags`, by the names that commander gives them, and those of the command. */
interface PutOptions {
  readonly title?: string;
  readonly syntax?: string;
  readonly burn?: boolean;
  readonly slug?: string;
  readonly supersedes?: string;
  readonly wait?: boolean;
  readonly qr?: boolean;
  readonly encrypt?: boolean;
  readonly password?: boolean;
  readonly copy?: boolean;
}

/** Uploads at the same time: more gain nothing, and a server counts the connections of a caller. */
const LANES = 4;

type Outcome =
  | {
      readonly file: string;
      readonly paste: CreatedPaste;
      /** Why the delete token could not be kept. */
      readonly unkept?: unknown;
    }
  | { readonly file: string; readonly error: unknown };

/** `pasteflow put [FILE|-]…`: a new paste for each file, with its URL on stdout. */
export async function put(
  session: Session,
  named: readonly string[],
  options: PutOptions,
): Promise<ExitCode> {
  const files = named.length === 0 ? ['-'] : named;
  const fields = fieldsOf(session, files, options);
  const encryption = await encryptionOf(session, options);
  const { output, signal } = session;
  if (files.includes('-') && session.terminal.stdin.isTTY === true)
    output.note('Reading from the terminal until Ctrl-D.');
  const report = startReport(session, files.length);
  const urls: string[] = [];
  let failures = 0;
  await inLanes(
    files,
    LANES,
    (file) => putOne(session, file, { fields, encryption, wait: options.wait === true, onSent: report.sent }),
    (outcome) => {
      report.ended();
      if ('error' in outcome) {
        if (signal.aborted) return; // the program prints one message about Ctrl-C for all files
        failures += 1;
        output.problem(messageOf(outcome.error, outcome.file), nameOf(outcome.file));
        return;
      }
      const { file, paste, unkept } = outcome;
      if (unkept !== undefined) {
        failures += 1;
        output.problem(`The delete token could not be kept: ${messageOf(unkept)}`, nameOf(file));
      }
      output.result({ file, ...paste }, [paste.url]);
      urls.push(paste.url);
      if (options.qr === true) output.drawing(renderUnicodeCompact(paste.url));
    },
  );
  signal.throwIfAborted();
  if (options.copy === true && urls.length > 0) await copyToClipboard(session.terminal, urls.join('\n'));
  return failures === 0 ? EXIT_DONE : EXIT_FAILED;
}

/** For people. */
function nameOf(file: string): string {
  return file === '-' ? 'stdin' : file;
}

/** The title of a file without `--title`: its name, unless that can be no title. */
function titleOf(file: string): string | undefined {
  const name = basename(file);
  const { maxCharacters } = pasteOptions.title;
  return file === '-' || name !== safeText(name) || name.length > maxCharacters ? undefined : name;
}

function fieldsOf({ server }: Session, files: readonly string[], options: PutOptions): NewPasteFields {
  if (files.length > 1 && options.title !== undefined)
    throw new UsageError('--title is for one file. Put the files one by one.');
  if (files.length > 1 && options.slug !== undefined)
    throw new UsageError('--slug is for one file. Put the files one by one.');
  if (files.length > 1 && options.supersedes !== undefined)
    throw new UsageError('--supersedes is for one file. A paste has one newer version.');
  if (files.filter((file) => file === '-').length > 1) throw new UsageError('- can be named once only.');
  const given = options as Readonly<Record<string, string | undefined>>;
  // The server must not learn what tells of encrypted content.
  const kept: readonly string[] = options.encrypt === true ? contentOptionNames : [];
  const fields = Object.entries(pasteFlags).flatMap(([name, { flags, fieldOf }]) => {
    const value = given[new Option(flags).attributeName()];
    if (value === undefined || kept.includes(name)) return [];
    return [[name, fieldOf === undefined ? value : fieldOf(value, server)]];
  });
  const sent = Object.fromEntries(fields) as NewPasteFields;
  return { ...(options.encrypt === true && { encrypted: true }), ...sent };
}

/** How the content is encrypted. */
interface Encryption {
  readonly title: string | null;
  readonly syntax: string | null;
  /** Empty: none. */
  readonly password: string;
  /** Readers learn from the document that it can be read once. */
  readonly burn: boolean;
}

/**
 * The title and the language of an encrypted paste are in its ciphertext.
 * @returns null: the paste is not encrypted
 */
async function encryptionOf(session: Session, options: PutOptions): Promise<Encryption | null> {
  const { title = null, syntax = null, encrypt = false, password = false, burn = false } = options;
  if (password && !encrypt)
    throw new UsageError('--password is for a paste that is encrypted: add --encrypt.');
  if (!encrypt) return null;
  return {
    title,
    syntax: syntax === null ? null : syntaxOf(syntax),
    burn,
    // Without --password a variable that is left over must not lock the readers out.
    password: password ? presetPassword(session) || (await askForPassword(session)) : '',
  };
}

/** One file that fails doesn't stop the others. The delete token is kept before anybody learns the URL. */
async function putOne(
  { client, signal, terminal, deleteTokens }: Session,
  file: string,
  {
    fields,
    encryption,
    wait,
    onSent,
  }: {
    readonly fields: NewPasteFields;
    /** null: the content is sent as it is. */
    readonly encryption: Encryption | null;
    readonly wait: boolean;
    readonly onSent: (bytes: number) => void;
  },
): Promise<Outcome> {
  try {
    signal.throwIfAborted();
    const source = await openContent(file, terminal.stdin, onSent);
    try {
      const title = titleOf(file);
      const named = encryption !== null || title === undefined ? fields : { title, ...fields };
      const sealed =
        encryption &&
        (await sealContent(source, file, { ...encryption, title: encryption.title ?? title ?? null }));
      const deleteToken = fields.supersedes ? await deleteTokens.find(fields.supersedes) : undefined;
      const sent = { ...named, deleteToken, signal };
      const created = await client.pastes.create(sealed?.content ?? source.content, sent);
      const paste = sealed === null ? created : { ...created, url: `${created.url}#${sealed.fragment}` };
      const unkept = await keepToken(deleteTokens, paste);
      const ended = wait ? await client.pastes.wait(paste.short_code, { signal }) : {};
      return { file, paste: { ...paste, ...ended, url: paste.url }, unkept };
    } finally {
      await source.close();
    }
  } catch (error) {
    return { file, error };
  }
}

/** @returns why the token could not be kept: the URL of the paste is worth more than its token */
export async function keepToken(
  tokens: DeleteTokens,
  { short_code, delete_token }: CreatedPaste,
): Promise<unknown> {
  if (delete_token === undefined) return undefined;
  try {
    await tokens.keep(short_code, delete_token);
    return undefined;
  } catch (error) {
    return error;
  }
}

function startReport({ terminal }: Session, files: number) {
  const progress = startProgress(terminal);
  let bytes = 0;
  let done = 0;
  const show = (): void => progress.update(done / files, `${done} of ${files} sent, ${sizeText(bytes)}`);
  return {
    sent: (count: number): void => {
      bytes += count;
      show();
    },
    ended: (): void => {
      done += 1;
      progress.end();
      if (done < files) show();
    },
  };
}

/**
 * Runs `work` for each item, at most `lanes` at the same time, and hands the results over in the order of the
 * items, each as soon as those before it are there.
 */
async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<Result>,
  take: (result: Result) => void,
): Promise<void> {
  const waiting = new Map<number, Result>();
  let begun = 0;
  let taken = 0;
  const lane = async (): Promise<void> => {
    for (let n = begun++; n < items.length; n = begun++) {
      waiting.set(n, await work(items[n] as Item));
      for (; waiting.has(taken); taken += 1) {
        take(waiting.get(taken) as Result);
        waiting.delete(taken);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
}

/**
 * Encrypts the content of a new paste.
 * @returns what is sent, and the part of the link behind `#`
 * @throws Error for content that no reader would decrypt, because it is too large
 */
async function sealContent(
  { content, size }: Pick<ContentSource, 'content' | 'size'>,
  file: string,
  { title, syntax, password, burn }: Encryption,
): Promise<{ readonly content: string; readonly fragment: string }> {
  if (size === 0) throw new Error('There is nothing to encrypt: the content is empty.');
  if (size > MAX_MESSAGE_BYTES / 2) throw new Error('Content of more than 32 MiB can not be encrypted.');
  const name = file === '-' ? 'attachment' : basename(file);
  const message = messageOfFile({ bytes: await bytesOf(content), name, title, syntax });
  const { document, key } = await seal(message, { password, burn });
  return { content: textOfSealed(document), fragment: fragmentOfKey(key) };
}

async function bytesOf(content: Content): Promise<Uint8Array<ArrayBuffer>> {
  const body = typeof content === 'function' ? await content() : content;
  const response = new Response(body instanceof Uint8Array ? new Blob([Uint8Array.from(body)]) : body);
  return new Uint8Array(await response.arrayBuffer());
}
