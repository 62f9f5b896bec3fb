import { isUtf8 } from 'node:buffer';
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deposit } from '@pasteflow/client';
import { fragmentOfKey } from '@pasteflow/sealed';
import { BrokenLinkError, publicPartOf } from '@pasteflow/sealed/wrapped-keys';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf, UsageError } from '../errors.ts';
import { writeFolder } from '../files/write-folder.ts';
import { assertNamed, openDeposit, type OpenedDeposit } from '../sealed/open-content.ts';
import { requireToken, type Session } from '../session.ts';
import { type NamedRequest, requestNamedBy } from '../settings/named-requests.ts';
import { readSecret } from '../terminal/terminal.ts';
import { timeFrom } from './pastes.ts';
import { showFiles, printContent } from './several-files.ts';

interface AnswersOptions {
  /** A folder, in which each deposit gets a folder of its own. */
  readonly output?: string;
  readonly link?: boolean;
  readonly keep?: boolean;
}

/** A request, and what opens its deposits. */
interface OpenableRequest {
  readonly id: string;
  readonly privatePart: string;
}

/** `pasteflow answers REQUEST [RECEIPT…]`: opens the deposits of a request of the user. */
export async function answers(
  session: Session,
  argument: string,
  receipts: readonly string[],
  options: AnswersOptions,
): Promise<ExitCode> {
  const { client, output, server, signal } = session;
  const named = requestNamedBy(await argumentOf(session, argument), server);
  if (options.keep === true) await keep(session, named);
  const request = await openable(session, named);
  if (options.link === true) {
    const link = `${server}/my/requests/${request.id}#${request.privatePart}`;
    output.result({ id: request.id, private_link: link }, [link]);
    return EXIT_DONE;
  }
  requireToken(session);
  const all = await client.requests.deposits(request.id, { signal });
  if (!Array.isArray(all)) throw new Error('The server has not answered with a list of deposits.');
  all.forEach(assertNamed);
  if (all.length === 0) {
    const link = `${server}/requests/${request.id}#${publicPartOf(request.privatePart)}`;
    output.note(`Nothing has arrived yet. The link for depositors: ${link}`);
  }
  return await openAll(session, request, chosen(all, receipts), options);
}

/** `-` is stdin: other users of a machine see the arguments of a command. */
async function argumentOf({ terminal, signal }: Session, argument: string): Promise<string> {
  return argument === '-' ? await readSecret(terminal, 'Private link: ', signal) : argument;
}

/** Keeps the key of a private link. It never takes the place of another one. @throws UsageError */
async function keep({ requestKeys, output }: Session, { id, privatePart }: NamedRequest): Promise<void> {
  if (privatePart === null)
    throw new UsageError('--keep keeps the key of a private link. Name the request by that link.');
  const kept = await requestKeys.find(id);
  if (kept !== undefined && kept !== privatePart)
    throw new UsageError(
      `Another key of this request is in ${requestKeys.pathOf(id)}. Nothing was changed: move that file away first.`,
    );
  await requestKeys.keep(id, privatePart);
  output.note(`The key is in ${requestKeys.pathOf(id)}.`);
}

/** @throws Error when no key is at hand */
async function openable(
  { requestKeys, output, server }: Session,
  { id, privatePart }: NamedRequest,
): Promise<OpenableRequest> {
  if (privatePart !== null) return { id, privatePart };
  const kept = await requestKeys.find(id);
  if (kept === undefined)
    throw new Error(
      `The key of this request is not on this machine. Name the private link, ${server}/my/requests/${id}#KEY, or run this where you have asked. If the key is lost, nobody can open what has arrived: pasteflow cancel ${id}, and ask again.`,
    );
  const path = requestKeys.pathOf(id);
  if (await requestKeys.isExposed(id))
    output.note(`Warning: others on this machine can read the key in ${path}. Run: chmod 600 ${path}`);
  try {
    publicPartOf(kept);
  } catch (cause) {
    if (!(cause instanceof BrokenLinkError)) throw cause;
    throw new Error(`The key in ${path} is damaged. Name the private link instead.`, { cause });
  }
  return { id, privatePart: kept };
}

/** @throws Error for a receipt of something else */
function chosen(all: readonly Deposit[], receipts: readonly string[]): readonly Deposit[] {
  const unknown = receipts.find((receipt) => all.every(({ short_code }) => short_code !== receipt));
  if (unknown !== undefined)
    throw new Error(`The request has no deposit with the receipt ${JSON.stringify(unknown)}.`);
  return receipts.length === 0 ? all : all.filter(({ short_code }) => receipts.includes(short_code));
}

/** One deposit that can't be opened doesn't stop the others. */
async function openAll(
  session: Session,
  request: OpenableRequest,
  deposits: readonly Deposit[],
  options: AnswersOptions,
): Promise<ExitCode> {
  const { output, signal, terminal } = session;
  const isPiped = options.output === undefined && !output.isJson && terminal.stdout.isTTY !== true;
  if (isPiped && deposits.filter(({ is_there: isThere }) => isThere).length > 1)
    throw new Error(
      'There are several deposits, and in one stream nobody could tell them apart. Name one by its receipt, or write all with -o FOLDER or --json.',
    );
  // An empty stream and exit code 0 would look like an empty secret.
  if (isPiped && deposits.length === 0 && options.keep !== true) return EXIT_FAILED;
  if (options.output !== undefined) await mkdir(options.output, { recursive: true, mode: 0o700 });
  let failures = 0;
  for (const deposit of deposits) {
    const { short_code: code } = deposit;
    try {
      if (deposit.is_there) await openOne(session, request, deposit, options);
      else output.note(`${code}: ${whyGone(deposit)}`);
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      output.problem(messageOf(error), code);
    }
  }
  const isNoneThere = deposits.length > 0 && deposits.every(({ is_there: isThere }) => !isThere);
  return failures > 0 || isNoneThere ? EXIT_FAILED : EXIT_DONE;
}

function whyGone({ status }: Deposit): string {
  return status === 'FAILED'
    ? 'The service could not store it. Ask for it again.'
    : 'It was deleted or taken down, or has expired.';
}

async function openOne(
  session: Session,
  request: OpenableRequest,
  deposit: Deposit,
  { output: folder }: AnswersOptions,
): Promise<void> {
  const { output, signal } = session;
  const place = folder === undefined ? null : join(folder, deposit.short_code);
  if (place !== null && (await lstat(place).catch(() => null)) !== null) {
    output.note(`${deposit.short_code}: It is in ${place} already.`);
    return;
  }
  const opened = await openDeposit(session, deposit, request);
  if (place !== null)
    await writeFolder(place, opened.content.files, signal, {
      mode: 0o700,
      otherwise: `To get its files without names on the disk: pasteflow answers ${request.id} ${deposit.short_code} --json`,
    });
  if (output.isJson) output.result(documentOf(deposit, opened, place), []);
  else if (place !== null) output.note(`${deposit.short_code}: It is in ${place}`);
  else await print(session, request, deposit, opened);
}

/** The address opens the deposit in a browser, and with `pasteflow cat`. */
function documentOf(
  { wrapped_key: _, ...facts }: Deposit,
  { key, content }: OpenedDeposit,
  folder: string | null,
): object {
  const url = `${facts.url}#${fragmentOfKey(key)}`;
  if (folder !== null) return { ...facts, url, folder };
  const files = content.files.map(({ name, bytes }) => {
    const buffer = Buffer.from(bytes);
    return { name, ...(isUtf8(bytes) ? { text: buffer.toString() } : { base64: buffer.toString('base64') }) };
  });
  return { ...facts, url, files };
}

async function print(
  session: Session,
  { id }: OpenableRequest,
  { short_code: code, created_at: createdAt }: Deposit,
  { content }: OpenedDeposit,
): Promise<void> {
  const { output, terminal } = session;
  const { files } = content;
  if (terminal.stdout.isTTY === true) {
    output.note(`Deposit ${code}, ${timeFrom(Date.now(), createdAt)}:`);
    if (!(await showFiles(session, files)))
      output.note(`To save its files: pasteflow answers ${id} ${code} -o FOLDER`);
    return;
  }
  const howToSave = `pasteflow answers ${id} ${code} -o FOLDER`;
  if (content.size === 0 && content.attachments.length > 0)
    throw new Error(
      `It has several files and no text, so that nothing was printed. To save them: ${howToSave}`,
    );
  await printContent(session, content, {});
  if (content.attachments.length > 0) output.note(`It has more files. To save all: ${howToSave}`);
}
