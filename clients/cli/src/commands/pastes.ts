import {
  type Listing,
  type Paste,
  type PasteChanges,
  PasteflowApiError,
  type SlugVersion,
} from '@pasteflow/client';
import { visibilities } from '@pasteflow/domain';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf, UsageError } from '../errors.ts';
import type { Session } from '../session.ts';
import { sizeText } from '../terminal/progress-bar.ts';
import { tableOf } from '../terminal/output.ts';
import { keyIn } from '../sealed/open-content.ts';
import { type ReaderOptions, visibilityOf } from '../settings/paste-flags.ts';
import { expiryOf, namedBy, pasteNamedBy, syntaxOf, withFragment } from '../settings/named.ts';
import { opener, runProgram } from '../terminal/programs.ts';

const STATUSES = ['IN_PROGRESS', 'PROCESSED', 'FAILED'] as const satisfies readonly Paste['status'][];

/** The API's maximum. */
export const PAGE = 100;

/** `pasteflow ls`: the caller's own pastes, newest first. */
export async function ls(
  { client, output, signal }: Session,
  options: {
    readonly limit: string;
    readonly status?: string;
    readonly visibility?: string;
    readonly syntax?: string;
  },
): Promise<ExitCode> {
  const limit = limitOf(options.limit);
  const status = oneOf('--status', STATUSES, options.status?.toUpperCase());
  const visibility = oneOf('--visibility', visibilities, options.visibility);
  const { syntax } = options;
  const filter = {
    limit: Math.min(limit, PAGE),
    signal,
    ...(status !== undefined && { status }),
    ...(visibility !== undefined && { visibility }),
    ...(syntax !== undefined && { syntax }),
  };
  const { items: shown, hasMore } = await firstOf(client.pastes.list(filter), limit);
  if (output.isJson) for (const paste of shown) output.result(paste, []);
  else output.result(null, tableOf(shown.map((paste) => rowOf(paste, Date.now()))));
  if (hasMore) output.note(`Listed: the first ${limit}. For more: pasteflow ls -n ${limit * 5}`);
  return EXIT_DONE;
}

function rowOf(paste: Paste, now: number): readonly string[] {
  const { short_code, status, size_bytes, created_at, visibility } = paste;
  return [
    short_code,
    status,
    sizeText(size_bytes),
    timeFrom(now, created_at),
    endOf(paste, now),
    visibility,
    nameOf(paste),
  ];
}

function endOf({ expires_at: at, read_at: fetched }: Paste, now: number): string {
  if (fetched) return `fetched ${timeFrom(now, fetched)}`;
  return at === null ? 'never expires' : `expires ${timeFrom(now, at)}`;
}

const MAX_NAMES = 3;

/** The title, and the first files by their names. */
function nameOf({ title, files }: Paste): string {
  const names = files?.slice(0, MAX_NAMES).map(({ name }) => name) ?? []; // a server of an earlier version sends none
  const others = (files?.length ?? 0) - names.length;
  const named = [...names, ...(others > 0 ? [`${others} more`] : [])].join(', ');
  return title !== null && named !== '' ? `${title} (${named})` : (title ?? named);
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

const relative = new Intl.RelativeTimeFormat('en');

/** `3 hours ago`, `in 30 days`. The clocks of server and client may differ by seconds, so seconds are `now`. */
export function timeFrom(now: number, time: string): string {
  const ms = Date.parse(time) - now;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? [];
  return unit === undefined ? 'now' : relative.format(Math.round(ms / size), unit);
}

/** The first `limit` of a list. */
export async function firstOf<T>(
  listing: Listing<T>,
  limit: number,
): Promise<{ readonly items: readonly T[]; readonly hasMore: boolean }> {
  const items: T[] = [];
  let hasMore = false;
  for await (const page of listing.pages()) {
    items.push(...page.items);
    hasMore = page.nextCursor !== null || items.length > limit;
    if (items.length >= limit) break;
  }
  return { items: items.slice(0, limit), hasMore };
}

/** @throws UsageError */
export function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError(`--limit takes a number from 1 on, not ${JSON.stringify(text)}.`);
  return limit;
}

function oneOf<Value extends string>(
  option: string,
  values: readonly Value[],
  text: string | undefined,
): Value | undefined {
  const value = values.find((each) => each === text);
  if (text !== undefined && value === undefined)
    throw new UsageError(`${option} takes one of ${values.join(', ')}.`);
  return value;
}

/** `pasteflow open CODE|JOB`: its page in the browser. */
export async function open({ output, server, terminal }: Session, given: string): Promise<ExitCode> {
  const argument = withFragment(given);
  const named = namedBy(argument, server);
  if (named.kind === 'paste') keyIn(argument); // a damaged key opens nothing
  const fragment = argument.includes('#') ? argument.slice(argument.indexOf('#')) : '';
  const url = named.kind === 'job' ? `${server}/my/jobs/${named.id}` : `${server}/${named.name}${fragment}`;
  const code = await runProgram(terminal, [opener, url], { stdio: ['inherit', 'ignore', 'inherit'] }).catch(
    () => null,
  );
  if (code === 0) return EXIT_DONE;
  output.result({ url }, [url]);
  throw new Error(
    `No browser was opened, because ${opener} is missing or failed. Open the address yourself.`,
  );
}

/** `pasteflow change CODE`: what a paste has beside its content. */
export async function change(
  { client, deleteTokens, output, server, signal }: Session,
  argument: string,
  options: {
    readonly title?: string;
    readonly syntax?: string;
    readonly expires?: string;
    readonly deleteToken?: string;
  } & ReaderOptions,
): Promise<ExitCode> {
  const { title, syntax, expires } = options;
  const visibility = visibilityOf(options);
  const changes: PasteChanges = {
    ...(title !== undefined && { title }),
    ...(syntax !== undefined && { syntax: syntax === '' ? '' : syntaxOf(syntax) }),
    ...(expires !== undefined && { expires_in: expiryOf(expires) }),
    ...(visibility !== undefined && { visibility }),
  };
  if (Object.keys(changes).length === 0)
    throw new UsageError(
      'Name what to change: --title, --syntax, --expires, --private, --members or --unlisted.',
    );
  const name = pasteNamedBy(argument, server);
  const deleteToken = options.deleteToken ?? (await deleteTokens.find(name));
  const paste = await client.pastes.change(name, changes, { deleteToken, signal });
  output.result(paste, [paste.url]);
  return EXIT_DONE;
}

/** `pasteflow rm CODE…`: deletes pastes, anonymous ones with the delete tokens that `put` has kept. */
export async function rm(
  session: Session,
  pastes: readonly string[],
  options: {
    readonly deleteToken?: string;
  },
): Promise<ExitCode> {
  const codes = pastes.map((each) => pasteNamedBy(each, session.server));
  if (codes.length > 1 && options.deleteToken !== undefined)
    throw new UsageError('--delete-token is for one paste. Delete the pastes one by one.');
  let failures = 0;
  for (const code of codes) {
    try {
      await remove(session, code, options.deleteToken);
      session.output.result({ short_code: code, deleted: true }, []);
    } catch (error) {
      session.signal.throwIfAborted();
      failures += 1;
      session.output.problem(messageOf(error), code);
    }
  }
  return failures === 0 ? EXIT_DONE : EXIT_FAILED;
}

async function remove(
  { client, deleteTokens, signal }: Session,
  code: string,
  given: string | undefined,
): Promise<void> {
  const deleteToken = given ?? (await deleteTokens.find(code));
  try {
    await client.pastes.delete(code, { deleteToken, signal });
  } catch (error) {
    if (isGone(error)) await deleteTokens.forget(code);
    throw error;
  }
  await deleteTokens.forget(code);
}

/** A token of a paste that no longer exists is of no use. */
function isGone(error: unknown): boolean {
  return (
    error instanceof PasteflowApiError && (error.code === 'paste_gone' || error.code === 'paste_not_found')
  );
}

/** `pasteflow history ~SLUG`: the pastes that a slug has named, newest first. */
export async function history(
  { client, output, server, signal }: Session,
  argument: string,
): Promise<ExitCode> {
  const versions = await client.slugs.history(pasteNamedBy(argument, server), { signal });
  if (output.isJson) for (const version of versions) output.result(version, []);
  else output.result(null, tableOf(versions.map((version) => versionRowOf(version, Date.now()))));
  return EXIT_DONE;
}

function versionRowOf({ version, short_code, size_bytes, named_at, title }: SlugVersion, now: number) {
  return [String(version), short_code, sizeText(size_bytes), timeFrom(now, named_at), title ?? ''];
}
