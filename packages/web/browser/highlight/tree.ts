import type { Parser } from '@lezer/common';
import { highlightTree, tagHighlighter, tags as t } from '@lezer/highlight';
import { kinds, type Kind } from './kinds.ts';

/** A text that takes a grammar longer keeps the colours of its beginning. */
export const MAX_PARSE_MS = 5000;

/** A tag means also the more special ones that are not listed. */
const TAGS: readonly (readonly [Kind | 'plain', ...(typeof t.name)[]])[] = [
  ['comment', t.comment, t.quote, t.strikethrough],
  ['keyword', t.keyword],
  ['string', t.string, t.character, t.regexp, t.attributeValue, t.link, t.url, t.monospace],
  ['number', t.number, t.bool, t.null, t.atom, t.unit, t.color],
  ['definition', t.definition(t.variableName), t.strong],
  ['call', t.function(t.variableName), t.function(t.propertyName), t.macroName],
  ['type', t.typeName, t.className, t.tagName, t.namespace, t.standard(t.name)],
  ['property', t.propertyName, t.attributeName, t.labelName, t.emphasis],
  ['operator', t.operator],
  ['meta', t.meta, t.escape, t.contentSeparator],
  ['heading', t.heading],
  ['inserted', t.inserted],
  ['deleted', t.deleted],
  ['plain', t.derefOperator],
];

const highlighter = tagHighlighter(TAGS.map(([kind, ...tag]) => ({ tag, class: kind })));

/**
 * The tokens of each chunk of a text: start, end and kind of each, one after another. No token leaves its line.
 * @throws Error when the grammar can't read the text
 */
export function readTree(
  parser: Parser,
  chunks: readonly string[],
  now: () => number = () => performance.now(),
): readonly Uint32Array<ArrayBuffer>[] {
  const all = chunks.join('');
  const mark = all.startsWith('\ufeff') ? 1 : 0; // a byte order mark is no part of the text
  const text = all.slice(mark);
  const parse = parser.startParse(text);
  const deadline = now() + MAX_PARSE_MS;
  let tree = parse.advance();
  while (tree === null) {
    if (parse.stoppedAt === null && now() > deadline) parse.stopAt(parse.parsedPos);
    tree = parse.advance();
  }
  const tokens: number[][] = chunks.map(() => []);
  let chunk = 0;
  let begin = -mark; // of the chunk, in the text
  highlightTree(tree, highlighter, (from, to, classes) => {
    const kind = kinds.indexOf(classes.split(' ').at(-1) as Kind);
    for (let start = from; kind >= 0 && start < to;) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 ? to : Math.min(newline, to);
      while (start >= begin + (chunks[chunk]?.length ?? Infinity)) begin += chunks[chunk++]?.length ?? 0;
      if (start < end) tokens[chunk]?.push(start - begin, end - begin, kind);
      start = end + 1;
    }
  });
  return tokens.map((each) => Uint32Array.from(each));
}
