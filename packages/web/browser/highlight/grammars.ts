import type { Parser } from '@lezer/common';

/** @param text may tell in which dialect it is */
type Load = (text: string) => Promise<Parser>;

/**
 * The grammar of each language that has one. It reads a text as a whole, and knows what a mode doesn't: calls, types
 * and properties. esbuild makes a file of each import.
 */
const grammars: Readonly<Record<string, Load>> = {
  c: async () => (await import('@lezer/cpp')).parser,
  cpp: async () => (await import('@lezer/cpp')).parser,
  css: async () => (await import('@lezer/css')).parser,
  elixir: async () => (await import('lezer-elixir')).parser,
  go: async () => (await import('./go.ts')).go,
  hcl: async () => (await import('codemirror-lang-hcl')).hclLanguage.parser,
  html: async () => await (await import('./mixed.ts')).html(),
  java: async () => (await import('@lezer/java')).parser,
  javascript: async () => (await import('./javascript.ts')).javascript.configure({ dialect: 'jsx' }),
  // Strict: it throws at comments, and at several values one after another, which the mode reads.
  json: async () => (await import('@lezer/json')).parser.configure({ strict: true }),
  markdown: async (text) => await (await import('./markdown-grammar.ts')).markdown(text, loadGrammar),
  nix: async () => (await import('@replit/codemirror-lang-nix')).nixLanguage.parser,
  php: async (text) => await (await import('./mixed.ts')).php(text),
  python: async () => (await import('@lezer/python')).parser,
  rust: async () => (await import('@lezer/rust')).parser,
  sql: loadSql,
  svelte: async () => await (await import('./mixed.ts')).component(/\{(?:[#:/@][a-z]+(?: if)?)?([^{}]*)\}/g),
  typescript: loadTypeScript,
  vue: async () => await (await import('./mixed.ts')).component(/\{\{([^{}]*)\}\}/g),
  yaml: async () => (await import('@lezer/yaml')).parser,
};

async function loadSql(text: string): Promise<Parser> {
  const { MySQL, PostgreSQL, SQLDialect } = await import('@codemirror/lang-sql');
  const { spec } = text.includes('`') ? MySQL : PostgreSQL;
  const keywords = (spec.keywords ?? '').replaceAll(NAMES_OF_COLUMNS, '');
  return SQLDialect.define({ ...spec, keywords }).language.parser;
}

/** They are keywords only in places where few texts have them. */
const NAMES_OF_COLUMNS =
  /\b(?:body|code|content|data|day|hint|hour|id|info|label|length|level|link|location|message|minute|month|names?|number|password|path|period|position|second|section|self|size|source|state|status|style|subject|title|token|uri|url|version|year)\b(?!_)/g;

/** `<T>x` is an assertion in a file without elements, and the beginning of an element in others. */
async function loadTypeScript(text: string): Promise<Parser> {
  const dialect = /<\/[\w.]*>|\/>/.test(text) ? 'jsx ts' : 'ts';
  return (await import('./javascript.ts')).javascript.configure({ dialect });
}

/** @returns null for a language without a grammar */
export async function loadGrammar(language: string, text: string): Promise<Parser | null> {
  return (await grammars[language]?.(text)) ?? null;
}

export const languagesWithGrammar: readonly string[] = Object.keys(grammars);
