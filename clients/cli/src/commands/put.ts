import type { CreatedPaste, NewPasteFields } from '@pasteflow/client';
import { fragmentOfKey } from '@pasteflow/sealed';
import { renderUnicodeCompact } from 'uqr';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf, UsageError } from '../errors.ts';
import { openContent } from '../files/content-source.ts';
import { namesOf, readNamedFiles, titleOf } from '../files/named-files.ts';
import { type Encryption, encryptionOf, sealFiles } from '../sealed/seal-content.ts';
import type { Session } from '../session.ts';
import type { KeptSecrets } from '../settings/kept-secrets.ts';
import { syntaxOf } from '../settings/named.ts';
import { fieldsOf } from '../settings/paste-flags.ts';
import { copyToClipboard } from '../terminal/programs.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';

/** The options of `pasteFlags`, by the names that commander gives them, and those of the command. */
interface PutOptions {
  readonly title?: string;
  readonly syntax?: string;
  readonly burn?: boolean;
  readonly slug?: string;
  readonly supersedes?: string;
  readonly each?: boolean;
  readonly wait?: boolean;
  readonly qr?: boolean;
  readonly encrypt?: boolean;
  readonly password?: boolean;
  readonly copy?: boolean;
  readonly expires?: string;
  readonly secret?: boolean;
}

/** Uploads at the same time: more gain nothing, and a server counts the connections of a caller. */
const LANES = 4;

/** The paths of the files of one paste; `-` is stdin. */
type Paths = readonly [string, ...string[]];

type Outcome =
  | {
      readonly paths: Paths;
      readonly paste: CreatedPaste;
      /** Why the delete token could not be kept. */
      readonly unkept?: unknown;
    }
  | { readonly paths: Paths; readonly error: unknown };

/** `pasteflow put [FILE|-]…`: a new paste of all files, or one of each, with its URL on stdout. */
export async function put(session: Session, named: readonly string[], given: PutOptions): Promise<ExitCode> {
  const options = given.secret === true ? secretOf(given) : given;
  const [first = '-', ...others] = named;
  const all: Paths = [first, ...others];
  const pastes = options.each === true ? all.map((path): Paths => [path]) : [all];
  assertPossible(all, pastes, options);
  const { output, signal, server } = session;
  const syntax = options.syntax === undefined ? null : syntaxOf(options.syntax);
  const fields = fieldsOf(options, { server, encrypt: options.encrypt === true });
  const encryption = await encryptionOf(session, options);
  if (all.includes('-') && session.terminal.stdin.isTTY === true)
    output.note('Reading from the terminal until Ctrl-D.');
  const report = startReport(session, pastes.length);
  const urls: string[] = [];
  let failures = 0;
  await inLanes(
    pastes,
    LANES,
    (paths) => putOne(session, paths, { fields, options, syntax, encryption, onSent: report.sent }),
    (outcome) => {
      report.ended();
      const file = outcome.paths.length === 1 ? outcome.paths[0] : undefined;
      if ('error' in outcome) {
        if (signal.aborted) return; // the program prints one message about Ctrl-C for all files
        failures += 1;
        output.problem(messageOf(outcome.error, file), nameOf(file));
        return;
      }
      const { paste, unkept } = outcome;
      if (unkept !== undefined) {
        failures += 1;
        output.problem(`The delete token could not be kept: ${messageOf(unkept)}`, nameOf(file));
      }
      output.result({ ...(file !== undefined && { file }), ...paste }, [paste.url]);
      urls.push(paste.url);
      if (options.qr === true) output.drawing(renderUnicodeCompact(paste.url));
    },
  );
  signal.throwIfAborted();
  if (options.copy === true && urls.length > 0) await copyToClipboard(session.terminal, urls.join('\n'));
  return failures === 0 ? EXIT_DONE : EXIT_FAILED;
}

/** What is meant for one reader. @throws UsageError */
function secretOf(given: PutOptions): PutOptions {
  if (given.supersedes !== undefined)
    throw new UsageError(
      'A paste that is encrypted and read once can be no newer version of another. Leave out --secret or --supersedes.',
    );
  return { ...given, encrypt: true, burn: true, expires: given.expires ?? '1d' };
}

/** For people. */
function nameOf(file: string | undefined): string | undefined {
  return file === '-' ? 'stdin' : file;
}

/** @throws UsageError */
function assertPossible(all: Paths, pastes: readonly Paths[], options: PutOptions): void {
  if (all.filter((path) => path === '-').length > 1) throw new UsageError('- can be named once only.');
  for (const paths of pastes) namesOf(paths);
  if (pastes.length === 1) return;
  for (const option of ['title', 'slug', 'supersedes'] as const)
    if (options[option] !== undefined)
      throw new UsageError(`--${option} is for one paste. Leave out --each, or put the files one by one.`);
}

interface Putting {
  readonly fields: NewPasteFields;
  readonly options: PutOptions;
  readonly syntax: string | null;
  /** null: the content is sent as it is. */
  readonly encryption: Encryption | null;
  readonly onSent: (bytes: number) => void;
}

/** One paste that fails doesn't stop the others. The delete token is kept before anybody learns the URL. */
async function putOne(session: Session, paths: Paths, putting: Putting): Promise<Outcome> {
  const { client, signal, deleteTokens } = session;
  try {
    signal.throwIfAborted();
    const paste = await create(session, paths, putting);
    const unkept = await keepToken(deleteTokens, paste);
    const ended = putting.options.wait === true ? await client.pastes.wait(paste.short_code, { signal }) : {};
    return { paths, paste: { ...paste, ...ended, url: paste.url }, unkept };
  } catch (error) {
    return { paths, error };
  }
}

async function create(
  { client, signal, terminal, deleteTokens }: Session,
  paths: Paths,
  { fields, options, syntax, encryption, onSent }: Putting,
): Promise<CreatedPaste> {
  const deleteToken = fields.supersedes ? await deleteTokens.find(fields.supersedes) : undefined;
  const sent = { ...fields, deleteToken, signal };
  const [path] = paths;
  const isOne = paths.length === 1;
  const title = isOne ? titleOf(path) : undefined;
  if (isOne && encryption === null) {
    const source = await openContent(path, terminal.stdin, onSent);
    try {
      return await client.pastes.create(source.content, title === undefined ? sent : { title, ...sent });
    } finally {
      await source.close();
    }
  }
  const read = await readNamedFiles(paths, terminal.stdin, onSent);
  const files = read.map((file) => ({ ...file, syntax }));
  if (encryption === null) {
    const { syntax: _, ...ofAll } = sent;
    const named = files.map(({ name, bytes }) => ({ name, content: bytes, syntax: syntax ?? undefined }));
    return await client.pastes.create(named, ofAll);
  }
  const { content, key } = await sealFiles(files, options.title ?? title ?? null, encryption);
  const created = await client.pastes.create(content, sent);
  return { ...created, url: `${created.url}#${fragmentOfKey(key)}` };
}

/** @returns why the token could not be kept: the URL of the paste is worth more than its token */
export async function keepToken(
  tokens: KeptSecrets,
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

function startReport({ terminal }: Session, pastes: number) {
  const progress = startProgress(terminal);
  let bytes = 0;
  let done = 0;
  const show = (): void => progress.update(done / pastes, `${done} of ${pastes} sent, ${sizeText(bytes)}`);
  return {
    sent: (count: number): void => {
      bytes += count;
      show();
    },
    ended: (): void => {
      done += 1;
      progress.end();
      if (done < pastes) show();
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
