import type { Parser } from '@lezer/common';
import { GFM, parseCode, parser } from '@lezer/markdown';
import { languageNamed } from '@pasteflow/domain';
import type { loadGrammar } from './grammars.ts';

/** With the code whose language the text names, such as ```js. */
export async function markdown(text: string, load: typeof loadGrammar): Promise<Parser> {
  const idOf = (name: string): string => languageNamed(name)?.id ?? '';
  const ids = new Set(
    Array.from(text.matchAll(/^ {0,3}[`~]{3,} *([\w+#-]+)/gm), ([, name = '']) => idOf(name)),
  );
  const inside = new Map(
    await Promise.all(
      [...ids].filter((id) => id !== 'markdown').map(async (id) => [id, await load(id, '')] as const),
    ),
  );
  return parser.configure([GFM, parseCode({ codeParser: (info) => inside.get(idOf(info)) ?? null })]);
}
