import { type Input, type NestedParse, type Parser, parseMixed, type SyntaxNodeRef } from '@lezer/common';

// Languages that have texts in other languages.

export async function html(): Promise<Parser> {
  const [{ configureNesting, parser }, { javascript }, { parser: css }] = await Promise.all([
    import('@lezer/html'),
    import('./javascript.ts'),
    import('@lezer/css'),
  ]);
  return parser.configure({
    wrap: configureNesting([
      { tag: 'script', attrs: isScript, parser: javascript.configure({ dialect: 'jsx' }) },
      { tag: 'style', parser: css },
    ]),
  });
}

/** A script of another type is a template or data. */
function isScript({ type = '' }: Readonly<Record<string, string>>): boolean {
  return /^$|^module$|javascript|babel|jsx/.test(type);
}

/** HTML around `<?php … ?>`; a text without that mark is all PHP. */
export async function php(text: string): Promise<Parser> {
  const { parser } = await import('@lezer/php');
  if (!text.includes('<?')) return parser.configure({ top: 'Program' });
  const around = await html();
  return parser.configure({
    wrap: parseMixed((node) =>
      node.type.isTop ? { parser: around, overlay: ({ name }) => name === 'Text' } : null,
    ),
  });
}

/** A file of Vue or Svelte: TypeScript in its script, in directives, and where the pattern finds an expression. */
export async function component(expressions: RegExp): Promise<Parser> {
  const [{ parser }, { javascript }, { parser: css }] = await Promise.all([
    import('@lezer/html'),
    import('./javascript.ts'),
    import('@lezer/css'),
  ]);
  const code = javascript.configure({ dialect: 'ts' });
  const nest = (node: SyntaxNodeRef, input: Input): NestedParse | null => {
    if (node.name === 'ScriptText') return { parser: code };
    if (node.name === 'StyleText') return { parser: css };
    if (!['Text', 'Attribute', 'UnquotedAttributeValue'].includes(node.name)) return null;
    const text = input.read(node.from, node.to);
    const found = node.name === 'Attribute' ? text.matchAll(DIRECTIVE) : text.matchAll(expressions);
    const overlay = Array.from(found, ({ index, 0: all, 1: inner = '' }) => {
      const to = node.from + index + all.lastIndexOf(inner) + inner.length;
      return { from: to - inner.length, to };
    }).filter(({ from, to }) => from < to);
    return overlay.length > 0 ? { parser: code, overlay } : null;
  };
  return parser.configure({ dialect: 'selfClosing', wrap: parseMixed(nest) });
}

/** `@click="go()"` of Vue. */
const DIRECTIVE = /^(?:@|:|#|v-)[^=]*="([^"]*)/g;
