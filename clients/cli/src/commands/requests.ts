import type { SecretRequest } from '@pasteflow/client';
import { isRequestCode, MAX_DEPOSITS } from '@pasteflow/domain';
import { newRequestKeys, publicPartOf } from '@pasteflow/sealed/wrapped-keys';
import type { Command } from 'commander';
import { EXIT_DONE, type ExitCode, messageOf, UsageError } from '../errors.ts';
import { requireToken, type Session } from '../session.ts';
import { isLinkOf } from '../settings/named-requests.ts';
import { expiryOf } from '../settings/named.ts';
import { tableOf } from '../terminal/output.ts';
import { timeFrom } from './pastes.ts';
import { answers } from './answers.ts';
import { deposit } from './deposit.ts';
import type { Act, InSession } from '../running.ts';
import type { CommonOptions } from '../settings/settings.ts';

/**
 * `pasteflow ask [MESSAGE]`: makes a request, and prints the link for depositors. Its private key is in a file before
 * anybody can have the link.
 */
async function ask(
  session: Session,
  message: string | undefined,
  options: { readonly deposits?: string; readonly expires?: string },
): Promise<ExitCode> {
  const { client, output, requestKeys, signal } = session;
  requireToken(session);
  const body = { message: message ?? null, ...depositsOf(options.deposits), ...expiresInOf(options.expires) };
  const { publicPart, privatePart } = await newRequestKeys();
  const request = await client.requests.create(body, { signal });
  const { id } = request;
  if (!isRequestCode(id) || !isLinkOf(request.url, id))
    throw new Error('The server has not answered with a request. Nobody has a link.');
  try {
    await requestKeys.keep(id, privatePart);
  } catch (error) {
    await client.requests.cancel(id, { signal }).catch(() => {}); // nobody has its link
    throw new Error(`The key could not be kept, and nothing was asked for: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const link = `${request.url}#${publicPart}`;
  output.result({ ...request, link }, [link]);
  output.note(`Send this link to whoever has the secret. To read what arrives: pasteflow answers ${id}`);
  output.note(
    `The only key is in ${requestKeys.pathOf(id)}. For a browser, or another machine: pasteflow answers ${id} --link`,
  );
  return EXIT_DONE;
}

/** @throws UsageError */
function depositsOf(text: string | undefined): { readonly deposits?: number } {
  if (text === undefined) return {};
  const deposits = Number(text);
  if (Number.isSafeInteger(deposits) && deposits >= 1 && deposits <= MAX_DEPOSITS) return { deposits };
  throw new UsageError(`--deposits takes a number from 1 to ${MAX_DEPOSITS}, not ${JSON.stringify(text)}.`);
}

/** @throws UsageError */
function expiresInOf(text: string | undefined): { readonly expires_in?: number } {
  if (text === undefined) return {};
  const seconds = expiryOf(text);
  if (seconds === 'never') throw new UsageError('A request expires. Give --expires a time of at most 30d.');
  return { expires_in: seconds };
}

/** `pasteflow requests`: the caller's own requests, newest first. */
async function requests(session: Session): Promise<ExitCode> {
  const { client, output, signal } = session;
  requireToken(session);
  const rows: (readonly string[])[] = [];
  for await (const request of client.requests.list({ limit: PAGE, signal })) {
    const link = await keptLink(session, request);
    if (output.isJson)
      output.result({ ...request, has_key: link !== null, ...(link !== null && { link }) }, []);
    else rows.push(rowOf(request, link !== null));
  }
  if (!output.isJson) output.result(null, tableOf(rows));
  return EXIT_DONE;
}

/** The API's maximum. */
const PAGE = 100;

function rowOf(request: SecretRequest, hasKey: boolean): readonly string[] {
  const { id, status, deposits, deposits_left: left, expires_at, message } = request;
  const now = Date.now();
  const isOver = Date.parse(expires_at) <= now;
  return [
    id,
    status === 'OPEN' && isOver ? 'EXPIRED' : status,
    `${deposits - left} of ${deposits} deposits`,
    `${isOver ? 'expired' : 'expires'} ${timeFrom(now, expires_at)}`,
    hasKey ? '' : 'no key here',
    message ?? '',
  ];
}

/** The link for depositors. null: this machine does not keep the key, or its file is damaged, which `answers` reports. */
async function keptLink({ requestKeys }: Session, { id, url }: SecretRequest): Promise<string | null> {
  try {
    const kept = await requestKeys.find(id);
    return kept === undefined ? null : `${url}#${publicPartOf(kept)}`;
  } catch {
    return null;
  }
}

/** The commands of requests for secrets, for who asks and for who deposits. */
export function addRequestCommands(
  program: Command,
  { inSession, act }: { readonly inSession: InSession; readonly act: Act },
): void {
  program
    .command('ask')
    .description('asks for a secret, and prints the link for whoever is to deposit it')
    .argument('[message]', 'what you ask for, in one line without links')
    .option('-d, --deposits <number>', 'how many deposits the request takes; otherwise one')
    .option('-e, --expires <time>', 'how long it takes them: 30m, 12h or 7d; otherwise 7d')
    .action(inSession(ask));
  program
    .command('requests')
    .description('lists your requests for secrets, newest first')
    .action(inSession(requests));
  program
    .command('answers')
    .description('opens what was deposited for a request of yours, and prints it')
    .argument('<request>', 'the id of the request, or its private link; - reads that from stdin')
    .argument('[receipts...]', 'only these deposits')
    .option('-o, --output <folder>', 'write each deposit into a folder of its own in this folder instead')
    .option('--link', 'only print the private link, which opens the deposits in a browser')
    .option('--keep', 'keep the key of the private link on this machine')
    .action(inSession(answers));
  program
    .command('deposit')
    .description('encrypts a secret for whoever has sent you a link that asks for one, and prints a receipt')
    .argument('<link>', 'the link, in quotes')
    .argument('[files...]', 'the files; otherwise stdin')
    .option('-y, --yes', 'do not ask on a terminal')
    .action((link: string, files: readonly string[], options: { readonly yes?: boolean }) =>
      act((of, signal) => deposit(of, program.opts<CommonOptions>(), signal, { link, files, options })),
    );
}
