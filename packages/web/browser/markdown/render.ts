import { Marked } from 'marked';
import { BoundedRenderer } from './bounded-renderer.ts';
import { BoundedTokenizer } from './bounded-tokenizer.ts';
import { TextTooComplex } from './text-too-complex.ts';

/** Chromium takes about two seconds to clean and lay out this many elements. */
const MAX_TAGS = 100_000;

/** As deep as a browser allows, 512, Chromium takes 15 s for 50,000 elements in each other, and 30 s for tables. */
const MAX_DEPTH = 60;

/** Elements that have no content, and those that the next of their kind ends. */
const UNNESTED = new Set('br hr p li dt dd caption thead tbody tfoot tr th td'.split(' '));

/**
 * GitHub's Markdown as markup, which is not safe to show before it is cleaned.
 * @throws TextTooComplex for a text that was written to freeze a tab
 */
export function renderMarkdown(text: string): string {
  const marked = new Marked({ async: false, gfm: true });
  marked.setOptions({ tokenizer: new BoundedTokenizer(), renderer: new BoundedRenderer() });
  const markup = marked.parse(text.replace(/^\ufeff/, ''), { async: false });
  assertShowable(markup);
  return markup;
}

function assertShowable(markup: string): void {
  let tags = 0;
  let depth = 0;
  for (const [, slash, name = ''] of markup.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    tags += 1;
    if (!UNNESTED.has(name.toLowerCase())) depth += slash === '' ? 1 : -1;
    if (tags > MAX_TAGS) throw new TextTooComplex(`The text has more than ${MAX_TAGS} tags.`);
    if (depth > MAX_DEPTH) throw new TextTooComplex(`Elements are nested more than ${MAX_DEPTH} deep.`);
  }
}
