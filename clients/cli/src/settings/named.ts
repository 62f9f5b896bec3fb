import { languageNamed, languages, nearestLanguage, secondsOf } from '@pasteflow/domain';
import { UsageError } from '../errors.ts';

/** What the argument of a command names. */
export type Named =
  | { readonly kind: 'paste'; readonly name: string }
  | { readonly kind: 'job'; readonly id: string };

const JOB = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
/** A short code, or `~` and a slug. */
const PASTE = /^([\dA-Za-z]{1,64}|~[a-z\d-]{3,64})$/;

/**
 * Reads a short code, `~` and a slug, the id of a job, or any address that the server shows of either: of a
 * page, of its lines, of the content, and PrivateBin's `/?CODE`.
 * @throws UsageError, also for the URL of another server: this one would be asked for a paste that it doesn't
 *   know
 */
export function namedBy(given: string, server: string): Named {
  const argument = withFragment(given);
  const text = /^https?:/i.test(argument) ? nameIn(argument, server) : argument.split(/[?#]/, 1)[0];
  const last = (text ?? '').replace(/\/$/, '');
  if (JOB.test(last.toLowerCase())) return { kind: 'job', id: last.toLowerCase() };
  const name = last.replace(/^%7e/i, '~').replace(/\.[\w+#-]*$/, '');
  if (PASTE.test(name)) return { kind: 'paste', name };
  throw new UsageError(
    `${JSON.stringify(argument)} is neither a short code, nor ~ and a slug, nor the id of a job, nor a URL.`,
  );
}

/** Mail programs write the # of an address as %23. */
export function withFragment(argument: string): string {
  return argument.replace('%23', '#');
}

/** What a URL of the server names. @throws UsageError */
function nameIn(argument: string, server: string): string | undefined {
  const url = URL.canParse(argument) ? new URL(argument) : null;
  const base = new URL(`${server}/`);
  if (url === null || url.origin !== base.origin || !url.pathname.startsWith(base.pathname))
    throw new UsageError(`${argument} belongs to another server than ${server}. Choose it with --server.`);
  const path = url.pathname.slice(base.pathname.length);
  if (path === '') return url.searchParams.get('pasteid') ?? [...url.searchParams.keys()][0];
  return path.replace(/^(v1\/(jobs|pastes)|my\/jobs)\//, '').split('/', 1)[0];
}

/** The file that a URL of the server names, `…/CODE/files/NAME`; null: none. */
export function fileNamedBy(argument: string): string | null {
  const [, name] = /^https?:[^?#]*\/files\/([^?#]+)/i.exec(argument) ?? [];
  try {
    return name === undefined ? null : decodeURIComponent(name);
  } catch {
    return null;
  }
}

/** @returns a short code, or `~` and a slug. @throws UsageError */
export function pasteNamedBy(argument: string, server: string): string {
  const named = namedBy(argument, server);
  if (named.kind === 'paste') return named.name;
  throw new UsageError(`${argument} is the id of a job. Name a paste.`);
}

/** @throws UsageError */
export function jobNamedBy(argument: string, server: string): string {
  const named = namedBy(argument, server);
  if (named.kind === 'job') return named.id;
  throw new UsageError(`${argument} names a paste. Name a job by its id.`);
}

/** `90`, `10m`, `2h`, `7d`, `4w` or `never`, as the field `expires_in`. @throws UsageError */
export function expiryOf(text: string): 'never' | number {
  if (text === 'never') return text;
  const seconds = secondsOf(text);
  if (seconds === null)
    throw new UsageError(`${JSON.stringify(text)} is not a time such as 30m, 12h, 7d or never.`);
  return seconds;
}

/** @returns the language as the pages know it. @throws UsageError with the nearest one */
export function syntaxOf(text: string): string {
  const language = languageNamed(text);
  if (language !== null) return language.id;
  const nearest = nearestLanguage(text);
  const hint =
    nearest === null
      ? `The languages are ${languages.map(({ id }) => id).join(', ')}.`
      : `Did you mean ${nearest}?`;
  throw new UsageError(`The language ${JSON.stringify(text)} is unknown. ${hint}`);
}
