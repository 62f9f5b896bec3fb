import { Marked, Renderer, Tokenizer, type Tokens } from 'marked';
import { escapeHtml } from '../../src/html/html.ts';
import { Footnotes } from './footnotes.ts';
import { levelBelow, withSimpleTags } from './simple-tags.ts';

/** A text of this kind was written to freeze a tab. */
class TextTooComplex extends Error {
  override readonly name = 'TextTooComplex';
}

/** Each level of quotes and lists copies the text below it: 256 KiB of `>` would take gigabytes. */
const MAX_NESTED_BLOCKS = 50;

/**
 * A row of a table gets the cells that it lacks, so that 128 KiB of columns and as many of rows make
 * billions.
 */
const MAX_CELLS = 50_000;

/** @throws TextTooComplex for quotes, lists and tables that are deeper or larger than people write them */
class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#nested(() => super.blockquote(src));
  }

  override list(src: string): Tokens.List | undefined {
    return this.#nested(() => super.list(src));
  }

  override table(src: string): Tokens.Table | undefined {
    if (cellsOf(src) > MAX_CELLS) throw new TextTooComplex(`A table has more than ${MAX_CELLS} cells.`);
    return super.table(src);
  }

  #nested<T>(read: () => T): T {
    if (this.#depth === MAX_NESTED_BLOCKS)
      throw new TextTooComplex(`Quotes or lists are nested more than ${MAX_NESTED_BLOCKS} deep.`);
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

/** At least the cells of a table that begins here; 0: none does. */
function cellsOf(src: string): number {
  const [head = '', ruler = ''] = src.split('\n', 2);
  if (!ruler.includes('-') || /[^\s|:-]/.test(ruler)) return 0;
  const end = src.indexOf('\n\n');
  const rows = src.slice(0, end === -1 ? undefined : end).split('\n').length;
  return Math.min(head.split('|').length, ruler.split('|').length) * rows;
}

/** A definition of a long link can be used by any number of short references. */
const MAX_LINK_CHARACTERS = 1024 * 1024;

/** @throws TextTooComplex for links that together are longer than a text of the permitted size needs */
class BoundedRenderer extends Renderer {
  #linkCharacters = 0;
  readonly #ids = new Map<string, number>();

  override link(token: Tokens.Link): string {
    this.#count(token.href);
    return super.link({ ...token, title: null });
  }

  override image(token: Tokens.Image): string {
    this.#count(token.href);
    return super.image({ ...token, title: null });
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return withSimpleTags(text);
  }

  /** marked leaves text between raw tags as it is. */
  override text(token: Tokens.Text | Tokens.Escape): string {
    const isRaw = token.type === 'text' && token.escaped === true;
    return isRaw ? withSimpleTags(token.text) : super.text(token);
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const level = levelBelow(depth);
    const content = this.parser.parseInline(tokens);
    const id = this.#idOf(content);
    return `<h${level}${id === '' ? '' : ` id="${id}"`}>${content}</h${level}>\n`;
  }

  /** As GitHub makes it: `Getting started!` has `getting-started`, and the next one `getting-started-1`. */
  #idOf(markup: string): string {
    const text = markup.replaceAll(/<[^<>]*>|&[#\w]+;/g, '').toLowerCase();
    const id = text
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\s-]/gu, '')
      .replaceAll(/\s/g, '-')
      .slice(0, 200);
    const number = this.#ids.get(id) ?? 0;
    this.#ids.set(id, number + 1);
    return number === 0 || id === '' ? id : `${id}-${number}`;
  }

  /** `> [!NOTE]`: its kind stands in an attribute that stays when the markup is cleaned. */
  override blockquote({ tokens }: Tokens.Blockquote): string {
    const markup = this.parser.parse(tokens);
    const [head = '', kind = ''] = ALERT.exec(markup) ?? [];
    if (head === '') return `<blockquote>\n${markup}</blockquote>\n`;
    return `<blockquote start="${kind.toLowerCase()}">\n<p>${markup.slice(head.length)}</blockquote>\n`;
  }

  /** The language stands in an attribute that stays when the markup is cleaned. */
  override code({ text, lang = '' }: Tokens.Code): string {
    const [, language] = /^([\w+#-]{1,20})/.exec(lang) ?? [];
    const name = language === undefined ? '' : ` start="${language}"`;
    return `<pre><code${name}>${escapeHtml(text.replace(/\n$/, ''))}\n</code></pre>\n`;
  }

  /** A mark instead of an element that looks as if it could be changed. */
  override checkbox({ checked }: Tokens.Checkbox): string {
    return checked ? '☑ ' : '☐ ';
  }

  #count(href: string): void {
    this.#linkCharacters += href.length;
    if (this.#linkCharacters > MAX_LINK_CHARACTERS)
      throw new TextTooComplex(`The links have more than ${MAX_LINK_CHARACTERS} characters.`);
  }
}

const ALERT = /^<p>\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\](?:\s+|(?=<\/p>))/i;

/** Chromium takes about two seconds to clean and lay out this many elements. */
const MAX_TAGS = 100_000;

/**
 * As deep as a browser allows, 512, Chromium takes 15 s for 50,000 elements in each other, and 30 s for
 * tables.
 */
const MAX_DEPTH_OF_ELEMENTS = 60;

/** Elements that have no content, and those that the next of their kind ends. */
const UNNESTED = new Set('a br hr img p li dt dd caption thead tbody tfoot tr th td'.split(' '));

/**
 * GitHub's Markdown as markup, which is not safe to show before it is cleaned.
 * @throws TextTooComplex for a text that was written to freeze a tab
 */
export function renderMarkdown(text: string): string {
  const notes = new Footnotes();
  const marked = new Marked({ async: false, gfm: true }, notes.extension);
  marked.setOptions({ tokenizer: new BoundedTokenizer(), renderer: new BoundedRenderer() });
  const body = marked.parse(withFrontMatter(text.replace(/^\ufeff/, '')), { async: false });
  const markup = body + notes.markup((tokens) => marked.parser(tokens));
  assertShowable(markup);
  return markup;
}

/** YAML between lines of dashes at the beginning is no text, but says something of it. */
function withFrontMatter(text: string): string {
  if (!/^---[ \t]*\r?\n(?:#.*\r?\n)*[\w"'-][^\n:]*:(?:\s|$)/.test(text)) return text;
  const start = text.indexOf('\n') + 1;
  const end = /^(?:---|\.\.\.)[ \t]*\r?$/m.exec(text.slice(start));
  if (end === null) return text;
  const yaml = text.slice(start, start + end.index);
  const fence = yaml.includes('```') ? '~~~' : '```';
  return `${fence}yaml\n${yaml}${fence}\n\n${text.slice(start + end.index + end[0].length)}`;
}

function assertShowable(markup: string): void {
  let tags = 0;
  let depth = 0;
  const open = new Map<string, number>(); // an end of what is not open ends nothing
  for (const [, slash, named = ''] of markup.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    tags += 1;
    const name = named.toLowerCase();
    const before = open.get(name) ?? 0;
    const change = slash === '' ? 1 : -Math.min(1, before);
    if (!UNNESTED.has(name)) depth += change;
    open.set(name, before + change);
    if (tags > MAX_TAGS) throw new TextTooComplex(`The text has more than ${MAX_TAGS} tags.`);
    if (depth > MAX_DEPTH_OF_ELEMENTS)
      throw new TextTooComplex(`Elements are nested more than ${MAX_DEPTH_OF_ELEMENTS} deep.`);
  }
}
