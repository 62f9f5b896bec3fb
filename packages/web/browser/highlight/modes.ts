import type { StreamParser } from '@codemirror/streamparser';

type Load = () => Promise<StreamParser<unknown>>;

/**
 * The modes, which read a text line by line: for languages without a grammar, and for texts that a grammar can't
 * read. esbuild makes a file of each import, so that a page loads the mode of its own language only.
 */
const modes: Readonly<Record<string, Load>> = {
  c: async () => (await import('@codemirror/legacy-modes/mode/clike')).c,
  cpp: async () => (await import('@codemirror/legacy-modes/mode/clike')).cpp,
  csharp: async () => (await import('@codemirror/legacy-modes/mode/clike')).csharp,
  clojure: async () => (await import('@codemirror/legacy-modes/mode/clojure')).clojure,
  css: async () => (await import('./css.ts')).css,
  dart: async () => (await import('@codemirror/legacy-modes/mode/clike')).dart,
  diff: async () => (await import('@codemirror/legacy-modes/mode/diff')).diff,
  dockerfile: async () => (await import('@codemirror/legacy-modes/mode/dockerfile')).dockerFile,
  erlang: async () => (await import('@codemirror/legacy-modes/mode/erlang')).erlang,
  fish: async () => (await import('@codemirror/legacy-modes/mode/shell')).shell,
  go: async () => (await import('@codemirror/legacy-modes/mode/go')).go,
  graphql: async () => (await import('./graphql.ts')).graphql,
  groovy: async () => (await import('@codemirror/legacy-modes/mode/groovy')).groovy,
  haskell: async () => (await import('@codemirror/legacy-modes/mode/haskell')).haskell,
  html: async () => (await import('@codemirror/legacy-modes/mode/xml')).html,
  ini: async () => (await import('@codemirror/legacy-modes/mode/properties')).properties,
  java: async () => (await import('@codemirror/legacy-modes/mode/clike')).java,
  javascript: async () => (await import('@codemirror/legacy-modes/mode/javascript')).javascript,
  json: async () => (await import('@codemirror/legacy-modes/mode/javascript')).json,
  julia: async () => (await import('@codemirror/legacy-modes/mode/julia')).julia,
  kotlin: async () => (await import('@codemirror/legacy-modes/mode/clike')).kotlin,
  less: async () => (await import('./css.ts')).less,
  lisp: async () => (await import('@codemirror/legacy-modes/mode/commonlisp')).commonLisp,
  lua: async () => (await import('@codemirror/legacy-modes/mode/lua')).lua,
  markdown: async () => (await import('./markdown.ts')).markdown,
  nginx: async () => (await import('@codemirror/legacy-modes/mode/nginx')).nginx,
  ocaml: async () => (await import('@codemirror/legacy-modes/mode/mllike')).oCaml,
  pascal: async () => (await import('@codemirror/legacy-modes/mode/pascal')).pascal,
  perl: async () => (await import('@codemirror/legacy-modes/mode/perl')).perl,
  powershell: async () => (await import('@codemirror/legacy-modes/mode/powershell')).powerShell,
  protobuf: async () => (await import('@codemirror/legacy-modes/mode/protobuf')).protobuf,
  python: async () => (await import('@codemirror/legacy-modes/mode/python')).python,
  r: async () => (await import('@codemirror/legacy-modes/mode/r')).r,
  ruby: async () => (await import('@codemirror/legacy-modes/mode/ruby')).ruby,
  rust: async () => (await import('@codemirror/legacy-modes/mode/rust')).rust,
  scala: async () => (await import('@codemirror/legacy-modes/mode/clike')).scala,
  scss: async () => (await import('./css.ts')).sCSS,
  shell: async () => (await import('@codemirror/legacy-modes/mode/shell')).shell,
  sql: async () => (await import('./sql.ts')).standardSQL,
  svelte: async () => (await import('@codemirror/legacy-modes/mode/xml')).html,
  swift: async () => (await import('@codemirror/legacy-modes/mode/swift')).swift,
  tex: async () => (await import('@codemirror/legacy-modes/mode/stex')).stex,
  toml: async () => (await import('@codemirror/legacy-modes/mode/toml')).toml,
  typescript: async () => (await import('@codemirror/legacy-modes/mode/javascript')).typescript,
  vue: async () => (await import('@codemirror/legacy-modes/mode/xml')).html,
  xml: async () => (await import('@codemirror/legacy-modes/mode/xml')).xml,
  yaml: async () => (await import('@codemirror/legacy-modes/mode/yaml')).yaml,
};

/** @returns null for a language without a mode */
export async function loadMode(language: string): Promise<StreamParser<unknown> | null> {
  return (await modes[language]?.()) ?? null;
}

export const languagesWithMode: readonly string[] = Object.keys(modes);
