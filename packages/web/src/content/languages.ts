import type { Words } from '../words/translation.ts';

/** A language that the pages highlight and that the form offers. */
export interface Language {
  /** Also the value of a paste's `syntax`. */
  readonly id: string;
  readonly name: string;
  /** The extensions of its files, without the dot. */
  readonly extensions: readonly string[];
  /** Other values of `syntax` that mean the same. */
  readonly aliases?: readonly string[];
  /** The programs of a shebang. */
  readonly programs?: readonly string[];
}

/** By name, as a list shows them. browser/modes.ts has the highlighter of each. */
export const languages: readonly Language[] = [
  { id: 'text', name: 'Plain text', extensions: ['txt', 'log', 'text'], aliases: ['plain', 'none'] },
  { id: 'c', name: 'C', extensions: ['c', 'h'] },
  { id: 'cpp', name: 'C++', extensions: ['cpp', 'cc', 'cxx', 'hpp', 'hh'], aliases: ['c++'] },
  { id: 'csharp', name: 'C#', extensions: ['cs'], aliases: ['c#', 'cs'] },
  { id: 'clojure', name: 'Clojure', extensions: ['clj', 'cljs', 'cljc', 'edn'] },
  { id: 'css', name: 'CSS', extensions: ['css'] },
  { id: 'dart', name: 'Dart', extensions: ['dart'] },
  { id: 'diff', name: 'Diff', extensions: ['diff', 'patch'], aliases: ['patch'] },
  { id: 'dockerfile', name: 'Dockerfile', extensions: ['dockerfile'], aliases: ['docker'] },
  { id: 'erlang', name: 'Erlang', extensions: ['erl', 'hrl'], programs: ['escript'] },
  { id: 'go', name: 'Go', extensions: ['go'], aliases: ['golang'] },
  { id: 'groovy', name: 'Groovy', extensions: ['groovy', 'gradle'], programs: ['groovy'] },
  { id: 'haskell', name: 'Haskell', extensions: ['hs'], aliases: ['hs'], programs: ['runhaskell'] },
  { id: 'html', name: 'HTML', extensions: ['html', 'htm'] },
  {
    id: 'ini',
    name: 'INI and properties',
    extensions: ['ini', 'properties', 'conf', 'cfg', 'env'],
    aliases: ['properties', 'conf'],
  },
  { id: 'java', name: 'Java', extensions: ['java'] },
  {
    id: 'javascript',
    name: 'JavaScript',
    extensions: ['js', 'mjs', 'cjs', 'jsx'],
    aliases: ['js', 'jsx', 'node'],
    programs: ['node', 'deno', 'bun'],
  },
  { id: 'json', name: 'JSON', extensions: ['json', 'ndjson', 'jsonl', 'geojson'] },
  { id: 'julia', name: 'Julia', extensions: ['jl'], programs: ['julia'] },
  { id: 'kotlin', name: 'Kotlin', extensions: ['kt', 'kts'] },
  { id: 'lisp', name: 'Common Lisp', extensions: ['lisp', 'cl', 'el'], aliases: ['commonlisp', 'elisp'] },
  { id: 'lua', name: 'Lua', extensions: ['lua'], programs: ['lua', 'luajit'] },
  { id: 'markdown', name: 'Markdown', extensions: ['md', 'markdown'], aliases: ['md'] },
  { id: 'nginx', name: 'nginx', extensions: ['nginx'] },
  { id: 'ocaml', name: 'OCaml', extensions: ['ml', 'mli'], programs: ['ocaml'] },
  { id: 'pascal', name: 'Pascal', extensions: ['pas', 'pp'] },
  { id: 'perl', name: 'Perl', extensions: ['pl', 'pm'], programs: ['perl'] },
  { id: 'powershell', name: 'PowerShell', extensions: ['ps1', 'psm1'], programs: ['pwsh'] },
  { id: 'protobuf', name: 'Protocol Buffers', extensions: ['proto'], aliases: ['proto'] },
  {
    id: 'python',
    name: 'Python',
    extensions: ['py', 'pyi', 'pyw'],
    aliases: ['py', 'python3'],
    programs: ['python', 'pypy', 'uv'],
  },
  { id: 'r', name: 'R', extensions: ['r'], programs: ['rscript'] },
  { id: 'ruby', name: 'Ruby', extensions: ['rb', 'gemspec', 'rake'], aliases: ['rb'], programs: ['ruby'] },
  { id: 'rust', name: 'Rust', extensions: ['rs'], aliases: ['rs'] },
  { id: 'scala', name: 'Scala', extensions: ['scala', 'sc'], programs: ['scala'] },
  { id: 'scss', name: 'SCSS', extensions: ['scss'] },
  {
    id: 'shell',
    name: 'Shell',
    extensions: ['sh', 'bash', 'zsh', 'ksh'],
    aliases: ['sh', 'bash', 'zsh', 'console'],
    programs: ['sh', 'bash', 'dash', 'zsh', 'ksh'],
  },
  { id: 'sql', name: 'SQL', extensions: ['sql'], aliases: ['postgresql', 'mysql', 'sqlite'] },
  { id: 'swift', name: 'Swift', extensions: ['swift'], programs: ['swift'] },
  { id: 'toml', name: 'TOML', extensions: ['toml'] },
  {
    id: 'typescript',
    name: 'TypeScript',
    extensions: ['ts', 'mts', 'cts', 'tsx'],
    aliases: ['ts', 'tsx'],
    programs: ['tsx', 'ts-node'],
  },
  { id: 'xml', name: 'XML', extensions: ['xml', 'svg', 'xsd', 'xsl', 'plist'], aliases: ['svg'] },
  { id: 'yaml', name: 'YAML', extensions: ['yaml', 'yml'], aliases: ['yml'] },
];

// Pure, so that a module which needs one of these maps has not all.
/** The name of a language on a page. Only that of a text without a language is a word. */
export function languageName({ id, name }: Language, { paste }: Words): string {
  return id === 'text' ? paste.plainText : name;
}

const bySyntax = /* @__PURE__ */ new Map(
  /* @__PURE__ */ languages.flatMap((language) =>
    [language.id, ...(language.aliases ?? [])].map((name) => [name, language]),
  ),
);
const byExtension = /* @__PURE__ */ new Map(
  /* @__PURE__ */ languages.flatMap((language) =>
    language.extensions.map((extension) => [extension, language]),
  ),
);
const byProgram = /* @__PURE__ */ new Map(
  /* @__PURE__ */ languages.flatMap((language) =>
    (language.programs ?? []).map((program) => [program, language]),
  ),
);

/**
 * The language of a paste: by its syntax, else by the extension of its title, else by its first line. No
 * statistics are used, because they are often wrong and a plain text is never wrong.
 * @param firstLine the first characters of the content
 * @returns null when nothing names a language that the pages know
 */
export function languageOf(
  { syntax, title }: { readonly syntax: string | null; readonly title: string | null },
  firstLine = '',
): Language | null {
  if (syntax !== null) return languageNamed(syntax);
  return languageOfFile(title ?? '') ?? languageOfFirstLine(firstLine);
}

/** The language that a syntax names; null: none that the pages know. */
export function languageNamed(syntax: string): Language | null {
  return bySyntax.get(syntax.trim().toLowerCase()) ?? null;
}

/** What names the same language as a syntax, in lower case: other syntaxes, and extensions of titles. */
export function namesOfLanguage(syntax: string): {
  readonly syntaxes: readonly string[];
  readonly extensions: readonly string[];
} {
  const language = languageNamed(syntax);
  if (language === null) return { syntaxes: [syntax.trim().toLowerCase()], extensions: [] };
  return { syntaxes: [language.id, ...(language.aliases ?? [])], extensions: language.extensions };
}

/** The language of a file by its name, for instance `main.rs` or `Dockerfile`. */
function languageOfFile(name: string): Language | null {
  const file = name.trim().toLowerCase().split('/').at(-1) ?? '';
  return byExtension.get(file.split('.').at(-1) ?? '') ?? null;
}

/** More of a first line is never looked at. */
const MAX_FIRST_LINE_CHARACTERS = 200;

/** Some editors of Windows begin each text with it. */
const BYTE_ORDER_MARK = /^\ufeff/;

function languageOfFirstLine(text: string): Language | null {
  const line = text.slice(0, MAX_FIRST_LINE_CHARACTERS).replace(BYTE_ORDER_MARK, '').split('\n', 1)[0] ?? '';
  if (line.startsWith('#!')) return languageOfShebang(line.slice(2));
  if (line.startsWith('<?xml')) return byExtension.get('xml') ?? null;
  if (/^<!doctype html/i.test(line)) return byExtension.get('html') ?? null;
  if (line.startsWith('diff --git ')) return byExtension.get('diff') ?? null;
  return null;
}

/**
 * `/usr/bin/env -S FOO=1 python3.11 -u` and `/bin/bash` name their program by its file, which may have a
 * version.
 */
function languageOfShebang(command: string): Language | null {
  const words = command.trim().split(/\s+/);
  const program = words
    .filter((word) => !word.includes('='))
    .map((word) => word.split('/').at(-1) ?? '')
    .find((word) => word !== 'env' && word !== '' && !word.startsWith('-'));
  const [name = ''] = /^[a-z]+(?:-[a-z]+)*/.exec((program ?? '').toLowerCase()) ?? [];
  return byProgram.get(name) ?? null;
}
