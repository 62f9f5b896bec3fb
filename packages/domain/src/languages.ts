import { MAX_SYNTAX_CHARACTERS } from './limits.ts';

/** A language that a paste can have as its `syntax`, and that the pages highlight. */
export interface Language {
  /** Also the value of a paste's `syntax`. */
  readonly id: string;
  readonly name: string;
  /** The extensions of its files, without the dot. */
  readonly extensions: readonly string[];
  /** Other values of `syntax` that mean the same, as the extensions do. */
  readonly aliases?: readonly string[];
  /** Files of the language whatever their extension is, in lower case. `dockerfile` is also `Dockerfile.dev`. */
  readonly fileNames?: readonly string[];
  /** The programs of a shebang. */
  readonly programs?: readonly string[];
}

/** By name, as a list shows them. packages/web/browser/highlight has the grammar or the mode of each. */
export const languages: readonly Language[] = [
  { id: 'text', name: 'Plain text', extensions: ['txt', 'log', 'text'], aliases: ['plain', 'none'] },
  { id: 'c', name: 'C', extensions: ['c', 'h'] },
  { id: 'cpp', name: 'C++', extensions: ['cpp', 'cc', 'cxx', 'hpp', 'hh'], aliases: ['c++'] },
  { id: 'csharp', name: 'C#', extensions: ['cs'], aliases: ['c#'] },
  { id: 'clojure', name: 'Clojure', extensions: ['clj', 'cljs', 'cljc', 'edn'] },
  { id: 'css', name: 'CSS', extensions: ['css'] },
  { id: 'dart', name: 'Dart', extensions: ['dart'] },
  { id: 'diff', name: 'Diff', extensions: ['diff', 'patch'] },
  {
    id: 'dockerfile',
    name: 'Dockerfile',
    extensions: ['dockerfile'],
    aliases: ['docker'],
    fileNames: ['dockerfile', 'containerfile'],
  },
  { id: 'elixir', name: 'Elixir', extensions: ['ex', 'exs'], programs: ['elixir'] },
  { id: 'erlang', name: 'Erlang', extensions: ['erl', 'hrl'], programs: ['escript'] },
  { id: 'fish', name: 'fish', extensions: ['fish'], programs: ['fish'] },
  { id: 'go', name: 'Go', extensions: ['go'], aliases: ['golang'] },
  { id: 'graphql', name: 'GraphQL', extensions: ['graphql', 'gql', 'graphqls'] },
  {
    id: 'groovy',
    name: 'Groovy',
    extensions: ['groovy', 'gradle'],
    programs: ['groovy'],
    fileNames: ['jenkinsfile'],
  },
  { id: 'haskell', name: 'Haskell', extensions: ['hs'], programs: ['runhaskell'] },
  {
    id: 'hcl',
    name: 'HCL and Terraform',
    extensions: ['hcl', 'tf', 'tfvars'],
    aliases: ['terraform'],
  },
  { id: 'html', name: 'HTML', extensions: ['html', 'htm'] },
  {
    id: 'ini',
    name: 'INI and properties',
    extensions: ['ini', 'properties', 'conf', 'cfg', 'env'],
    fileNames: ['.env', '.editorconfig', '.gitconfig', '.npmrc'],
  },
  { id: 'java', name: 'Java', extensions: ['java'] },
  {
    id: 'javascript',
    name: 'JavaScript',
    extensions: ['js', 'mjs', 'cjs', 'jsx'],
    aliases: ['node'],
    programs: ['node', 'deno', 'bun'],
  },
  {
    id: 'json',
    name: 'JSON',
    extensions: ['json', 'ndjson', 'jsonl', 'geojson', 'ipynb', 'har'],
    fileNames: ['.babelrc', '.eslintrc', '.prettierrc', 'composer.lock', 'pipfile.lock', 'flake.lock'],
  },
  { id: 'julia', name: 'Julia', extensions: ['jl'], programs: ['julia'] },
  { id: 'kotlin', name: 'Kotlin', extensions: ['kt', 'kts'] },
  { id: 'lisp', name: 'Common Lisp', extensions: ['lisp', 'cl', 'el'], aliases: ['commonlisp', 'elisp'] },
  { id: 'less', name: 'LESS', extensions: ['less'] },
  { id: 'lua', name: 'Lua', extensions: ['lua'], programs: ['lua', 'luajit'] },
  { id: 'markdown', name: 'Markdown', extensions: ['md', 'markdown'] },
  { id: 'nginx', name: 'nginx', extensions: ['nginx'], fileNames: ['nginx.conf'] },
  { id: 'nix', name: 'Nix', extensions: ['nix'] },
  { id: 'ocaml', name: 'OCaml', extensions: ['ml', 'mli'], programs: ['ocaml'] },
  { id: 'pascal', name: 'Pascal', extensions: ['pas', 'pp'] },
  { id: 'perl', name: 'Perl', extensions: ['pl', 'pm'], programs: ['perl'] },
  { id: 'php', name: 'PHP', extensions: ['php', 'phtml'], programs: ['php'] },
  { id: 'powershell', name: 'PowerShell', extensions: ['ps1', 'psm1'], programs: ['pwsh'] },
  { id: 'protobuf', name: 'Protocol Buffers', extensions: ['proto'] },
  {
    id: 'python',
    name: 'Python',
    extensions: ['py', 'pyi', 'pyw'],
    aliases: ['python3'],
    programs: ['python', 'pypy', 'uv'],
  },
  { id: 'r', name: 'R', extensions: ['r'], programs: ['rscript'] },
  {
    id: 'ruby',
    name: 'Ruby',
    extensions: ['rb', 'gemspec', 'rake'],
    programs: ['ruby'],
    fileNames: ['gemfile', 'rakefile', 'vagrantfile', 'podfile', 'brewfile', 'config.ru'],
  },
  { id: 'rust', name: 'Rust', extensions: ['rs'] },
  { id: 'scala', name: 'Scala', extensions: ['scala', 'sc'], programs: ['scala'] },
  { id: 'scss', name: 'SCSS', extensions: ['scss'] },
  {
    id: 'shell',
    name: 'Shell',
    extensions: ['sh', 'bash', 'zsh', 'ksh'],
    aliases: ['console'],
    programs: ['sh', 'bash', 'dash', 'zsh', 'ksh'],
    fileNames: [
      '.bashrc',
      '.bash_profile',
      '.bash_aliases',
      '.bash_logout',
      '.profile',
      '.envrc',
      '.zshrc',
      '.zshenv',
      '.zprofile',
      '.zlogin',
      'pkgbuild',
    ],
  },
  { id: 'sql', name: 'SQL', extensions: ['sql'], aliases: ['postgresql', 'mysql', 'sqlite'] },
  { id: 'svelte', name: 'Svelte', extensions: ['svelte'] },
  { id: 'swift', name: 'Swift', extensions: ['swift'], programs: ['swift'] },
  { id: 'tex', name: 'TeX', extensions: ['tex', 'sty', 'cls', 'bib'], aliases: ['latex'] },
  {
    id: 'toml',
    name: 'TOML',
    extensions: ['toml'],
    fileNames: ['cargo.lock', 'poetry.lock', 'uv.lock', 'pipfile'],
  },
  {
    id: 'typescript',
    name: 'TypeScript',
    extensions: ['ts', 'mts', 'cts', 'tsx'],
    programs: ['tsx', 'ts-node'],
  },
  { id: 'vue', name: 'Vue', extensions: ['vue'] },
  { id: 'xml', name: 'XML', extensions: ['xml', 'svg', 'xsd', 'xsl', 'plist'] },
  { id: 'yaml', name: 'YAML', extensions: ['yaml', 'yml'], fileNames: ['.clang-format', '.clang-tidy'] },
];

// Pure, so that a module which needs one of these maps has not all.
const bySyntax = /* @__PURE__ */ new Map(
  /* @__PURE__ */ languages.flatMap((language) => namesOf(language).map((name) => [name, language])),
);
const byExtension = /* @__PURE__ */ new Map(
  /* @__PURE__ */ languages.flatMap((language) =>
    language.extensions.map((extension) => [extension, language]),
  ),
);
const byFileName = /* @__PURE__ */ new Map(
  /* @__PURE__ */ languages.flatMap((language) => (language.fileNames ?? []).map((name) => [name, language])),
);
const byProgram = /* @__PURE__ */ new Map(
  /* @__PURE__ */ languages.flatMap((language) =>
    (language.programs ?? []).map((program) => [program, language]),
  ),
);

/**
 * The language of a paste: by its syntax, else by its title as the name of a file, else by its first lines. No
 * statistics are used, because they are often wrong and a plain text is never wrong.
 * @param start the first characters of the content
 * @returns null when nothing names a language that the pages know
 */
export function languageOf(
  { syntax, title }: { readonly syntax: string | null; readonly title: string | null },
  start = '',
): Language | null {
  if (syntax !== null) return languageNamed(syntax);
  return languageOfFile(title ?? '') ?? languageOfStart(start);
}

/** The language that a syntax names; null: none that the pages know. */
export function languageNamed(syntax: string): Language | null {
  return bySyntax.get(syntax.trim().toLowerCase()) ?? null;
}

/** All values of `syntax` that mean the language. An extension may be its id, too. */
function namesOf({ id, aliases = [], extensions }: Language): readonly string[] {
  return [id, ...aliases, ...extensions];
}

/** More typing errors make another word. */
const MAX_TYPOS = 2;

/** The id of the language whose name is the nearest one to a wrong syntax; null: none is near. */
export function nearestLanguage(syntax: string): string | null {
  const wanted = syntax.trim().toLowerCase();
  const most = Math.min(MAX_TYPOS, Math.floor(wanted.length / 3));
  if (wanted.length > MAX_SYNTAX_CHARACTERS) return null;
  const [nearest] = languages
    .flatMap((language) => namesOf(language).map((name) => ({ id: language.id, name })))
    .map(({ id, name }) => ({ id, distance: distanceOf(wanted, name) }))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest !== undefined && nearest.distance <= most ? nearest.id : null;
}

/** The number of characters to insert, remove or replace (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1)
      next.push(Math.min((row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row.at(-1) ?? 0;
}

/**
 * What names the same language as a syntax, in lower case: other syntaxes, and a regular expression of
 * Postgres for the names of files. It accepts those that `languageOf` gives this language.
 */
export function namesOfLanguage(syntax: string): {
  readonly syntaxes: readonly string[];
  /** For the part of a title behind its last slash; null: no file has this language by its name. */
  readonly filePattern: string | null;
} {
  const language = languageNamed(syntax);
  if (language === null) return { syntaxes: [syntax.trim().toLowerCase()], filePattern: null };
  const { extensions, fileNames = [] } = language;
  const otherNames = [...byFileName.keys()].filter((name) => !fileNames.includes(name));
  const known = `(?:.*\\.)?(?:${oneOf([...byExtension.keys()])})`;
  const names = fileNames.map((name) =>
    name.lastIndexOf('.') > 0 ? escaped(name) : `${escaped(name)}(?:\\.(?!${known}$).*)?`,
  );
  const files = [`(?:.*\\.)?(?:${oneOf(extensions)})`, ...names].join('|');
  return { syntaxes: namesOf(language), filePattern: `^(?!(?:${oneOf(otherNames)})$)(?:${files})$` };
}

function oneOf(names: readonly string[]): string {
  return names.map(escaped).join('|');
}

function escaped(name: string): string {
  return name.replaceAll(/[^a-z\d]/g, String.raw`\$&`);
}

/**
 * The language of a file by its name: `nginx.conf` before its extension, `main.rs` by it, `Dockerfile.dev` by
 * the part before an extension that no language has.
 */
function languageOfFile(title: string): Language | null {
  const file = title.trim().toLowerCase().split('/').at(-1) ?? '';
  const [stem = ''] = /^\.?[^.]*/.exec(file) ?? [];
  return (
    byFileName.get(file) ?? byExtension.get(file.split('.').at(-1) ?? '') ?? byFileName.get(stem) ?? null
  );
}

/** More of a line is never looked at. */
const MAX_LINE_CHARACTERS = 200;

/** Some editors of Windows begin each text with it. */
const BYTE_ORDER_MARK = /^\ufeff/;

/** The heads of both files and of the first change: a line that begins with `---` alone is often something else. */
const UNIFIED_DIFF = /^--- \S.*\r?\n\+\+\+ \S.*\r?\n@@ -\d/;

function languageOfStart(text: string): Language | null {
  const start = text.slice(0, 3 * MAX_LINE_CHARACTERS).replace(BYTE_ORDER_MARK, '');
  if (UNIFIED_DIFF.test(start)) return byExtension.get('diff') ?? null;
  const line = start.slice(0, MAX_LINE_CHARACTERS).split('\n', 1)[0] ?? '';
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
