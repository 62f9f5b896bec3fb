import type { Environment } from './load-config.ts';

/** The names of settings. The environment of a process also has settings of other services. */
export interface SettingNames {
  readonly current: readonly string[];
  /** Of earlier releases, each with what to know: a clause about whether it still has an effect, and what to write. */
  readonly retired: Readonly<Record<string, string>>;
}

export interface UnknownSettings {
  /** A sentence for each name that is meant to be one of ours and isn't, and so would have no effect. */
  readonly problems: readonly string[];
  /** Other names that begin like ours. */
  readonly ignored: readonly string[];
  /** A sentence for each name of an earlier release. */
  readonly retired: readonly string[];
}

/** The SDKs of AWS and OpenTelemetry read many more names than ours, some of which differ in one letter. */
const READ_BY_LIBRARIES = /^(AWS|OTEL|NODE)_/;

export function findUnknownSettings(env: Environment, names: SettingNames): UnknownSettings {
  const { current } = names;
  const known = new Set(current);
  const firstWords = new Set(current.map(firstWord));
  const problems: string[] = [];
  const ignored: string[] = [];
  const retired: string[] = [];
  for (const [given, value] of Object.entries(env)) {
    if (known.has(given) || isUnset(value)) continue;
    const name = given.replace(/^\uFEFF?\s*(export\s+)?/, '').trim();
    const advice = Object.hasOwn(names.retired, name) ? names.retired[name] : undefined;
    const meant = meantBy(name, current);
    if (advice !== undefined) retired.push(`${name} ${advice}`);
    else if (meant !== undefined && isUnset(env[meant])) problems.push(problemOf(given, meant));
    else if (meant !== undefined || (firstWords.has(firstWord(name)) && !READ_BY_LIBRARIES.test(name)))
      ignored.push(given);
  }
  return { problems, ignored: ignored.toSorted(), retired: retired.toSorted() };
}

function isUnset(value: string | undefined): boolean {
  return value === undefined || value.trim() === '';
}

function problemOf(given: string, meant: string): string {
  if (given.startsWith('\uFEFF'))
    return `${meant} has no effect: its file begins with a byte order mark; save the file as UTF-8 without one`;
  if (/^export\s/.test(given)) return `${meant} has no effect behind the word export; remove that word`;
  return `${given} has no effect: there is no such setting; write ${meant}, or set ${meant} as well if something else reads ${given}`;
}

/** The setting whose name somebody has misspelt so. */
function meantBy(name: string, settings: readonly string[]): string | undefined {
  const written = name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  if (settings.includes(written)) return written;
  if (READ_BY_LIBRARIES.test(written)) return undefined;
  return settings.find((setting) => isMisspelt(written, setting));
}

/** With three letters, a change of one makes another word: APP_PORT and API_PORT. */
const MAX_SHORT_WORD = 3;

/** Names of at least so many characters may differ in two, shorter ones in one. */
const MIN_LONG_NAME = 12;

function isMisspelt(written: string, setting: string): boolean {
  const first = firstWord(setting);
  if (first.length <= MAX_SHORT_WORD && firstWord(written) !== first) return false;
  return distance(written, setting) <= (setting.length >= MIN_LONG_NAME ? 2 : 1);
}

function firstWord(name: string): string {
  return name.split('_', 1)[0] ?? '';
}

/** How many characters are missing, superfluous, wrong, or in the place of their neighbour. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Infinity;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      next.push(
        Math.min(
          at(last, column) + 1,
          at(next, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(before, column - 2) + 1 : Infinity,
        ),
      );
    }
    [before, last] = [last, next];
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
