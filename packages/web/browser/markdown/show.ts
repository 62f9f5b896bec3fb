import DOMPurify from 'dompurify';
import { languageNamed } from '@pasteflow/domain';
import { canPaint, Painter } from '../highlight/painter.ts';
import type { Rendered } from './markdown-worker.ts';
import { SIMPLE_TAGS } from './simple-tags.ts';

/**
 * A text that takes longer was written to take long. It runs in a worker, so that the page answers meanwhile.
 */
const DEADLINE_MS = 10_000;

/**
 * A text as it looks; null when it cannot be rendered in time. Rejects when a module cannot be loaded.
 * @param worker the URL of the worker's module
 * @param styles the URL of the sheet of rendered texts
 * @param painter the URL of the module that reads the code in a text
 */
export async function rendered(
  text: string,
  {
    worker: url,
    styles,
    painter,
    imageLabel,
    alertLabels,
  }: {
    readonly worker: string;
    readonly styles: string;
    readonly painter: string;
    readonly imageLabel: string;
    /** The names of alerts, by their kinds. */
    readonly alertLabels: Readonly<Record<string, string>>;
  },
): Promise<HTMLElement | null> {
  const worker = new Worker(url, { type: 'module' });
  try {
    const [markup] = await Promise.all([answerOf(worker, text), loadStyles(styles)]);
    if (markup === null) return null;
    const article = Object.assign(document.createElement('article'), { className: 'rendered' });
    article.append(cleanFragment(markup, imageLabel));
    nameAlerts(article, alertLabels);
    paintFences(article, painter);
    return article;
  } finally {
    worker.terminate();
  }
}

/** A sheet that cannot be loaded leaves a text without styles, which can be read. */
async function loadStyles(href: string): Promise<void> {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  await new Promise((resolve) => {
    link.addEventListener('load', resolve);
    link.addEventListener('error', resolve);
    document.head.append(link);
  });
}

/** Paints code whose language the text names, such as ```js. */
function paintFences(article: HTMLElement, worker: string): void {
  if (!canPaint()) return;
  const fences = [...article.querySelectorAll<HTMLElement>('pre > code[start]')].flatMap((box) => {
    const name = box.getAttribute('start') ?? '';
    box.removeAttribute('start');
    const language = languageNamed(name)?.id ?? 'text';
    const node = box.firstChild;
    return language !== 'text' && node instanceof Text ? [{ box, nodes: [node], language }] : [];
  });
  if (fences.length > 0) new Painter(fences, worker);
}

async function answerOf(worker: Worker, text: string): Promise<Rendered> {
  return await new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Rendered>) => resolve(data));
    worker.addEventListener('error', reject);
    setTimeout(() => resolve(null), DEADLINE_MS);
    worker.postMessage(text);
  });
}

/**
 * No `name` and `class`, and each `id` gets a prefix: an element of a paste could take the place of one of the
 * page. No spans of cells: a table of them takes long to lay out.
 */
const ATTRIBUTES = ['align', 'alt', 'href', 'id', 'src', 'start'];

/** DOMPurify's. */
const PREFIX = 'user-content-';

/**
 * A relative link would lead to a page of this service, which the author of a paste cannot mean, but one to
 * a part of the text.
 */
const ABSOLUTE = /^(?:https?:|mailto:|#)/i;

/** Each block in its own direction: a text in English stays in order on a page in Arabic. */
const BLOCKS = 'p, h2, h3, h4, h5, h6, summary, caption, dt, dd, th, td';

/** They have the direction of their first letter. `auto` does not look into blocks that have directions. */
const CONTAINERS = 'ul, ol, li, blockquote, table, details, dl, div';

const FIRST_LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * The elements of untrusted markup that are safe to show. A fragment, because markup that is written and read
 * again can change its meaning.
 * @param imageLabel stands before the text of an image
 */
function cleanFragment(markup: string, imageLabel: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(markup, {
    ALLOWED_TAGS: ['a', 'img', ...SIMPLE_TAGS],
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: ABSOLUTE,
    ADD_URI_SAFE_ATTR: ['align', 'id', 'start'], // no addresses
    SANITIZE_NAMED_PROPS: true,
    ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
    RETURN_DOM_FRAGMENT: true,
  });
  directBlocks(fragment);
  for (const image of fragment.querySelectorAll('img')) image.replaceWith(...insteadOf(image, imageLabel));
  const parts = partsOf(fragment);
  for (const link of fragment.querySelectorAll('a')) {
    const href = link.getAttribute('href');
    if (href?.startsWith('#') === true) pointInside(link, parts, href.slice(1));
    else if (href !== null) link.rel = 'noopener noreferrer nofollow ugc';
  }
  for (const code of fragment.querySelectorAll('pre')) Object.assign(code, { dir: 'ltr', tabIndex: 0 }); // so that the keyboard can scroll it
  for (const table of fragment.querySelectorAll('table')) wrapTable(table);
  return fragment;
}

/** @param name of a part of the text; a link to any other part of the page loses its address */
function pointInside(link: HTMLAnchorElement, parts: Parts, name: string): void {
  const target = partNamed(parts, name);
  if (target === null) link.removeAttribute('href');
  else link.setAttribute('href', `#${target.id}`);
}

function directBlocks(fragment: DocumentFragment): void {
  for (const block of fragment.querySelectorAll<HTMLElement>(BLOCKS)) block.dir = 'auto';
  for (const each of fragment.querySelectorAll<HTMLElement>(CONTAINERS)) {
    const [letter = ''] = FIRST_LETTER.exec(each.textContent) ?? [];
    each.dir = RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
  }
}

type Parts = ReadonlyMap<string, Element>;

/** The elements to which links of the text can lead. Of several with one id, it is the first. */
export function partsOf(text: ParentNode): Parts {
  return new Map([...text.querySelectorAll(`[id^=${PREFIX}]`)].toReversed().map((part) => [part.id, part]));
}

/** The part that `#name` means in the text, or with the prefix in the page; null: the text has none. */
export function partNamed(parts: Parts, name: string): Element | null {
  const id = decoded(name);
  return parts.get(PREFIX + id) ?? parts.get(PREFIX + id.toLowerCase()) ?? parts.get(id) ?? null;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** `> [!NOTE]` begins with its name in the language of the page. */
function nameAlerts(article: HTMLElement, labels: Readonly<Record<string, string>>): void {
  for (const quote of article.querySelectorAll<HTMLElement>('blockquote[start]')) {
    const kind = quote.getAttribute('start') ?? '';
    quote.removeAttribute('start');
    const label = labels[kind];
    if (label === undefined) continue;
    quote.className = 'alert';
    quote.dataset['kind'] = kind;
    const name = document.createElement('p');
    name.append(Object.assign(document.createElement('strong'), { textContent: label }));
    quote.prepend(name);
  }
}

/**
 * A link, because an image from elsewhere would tell its host who reads the paste. The page's policy refuses
 * it, too.
 */
function insteadOf(image: HTMLImageElement, label: string): readonly Node[] {
  const source = image.getAttribute('src') ?? '';
  // Isolated, because the word of the page says nothing of the direction of the text.
  const parts = [
    Object.assign(document.createElement('bdi'), { textContent: `${label}:` }),
    document.createTextNode(` ${image.alt === '' ? source.slice(0, 100) : image.alt}`),
  ];
  if (!/^https?:/i.test(source) || image.closest('a') !== null) return parts;
  const link = Object.assign(document.createElement('a'), { href: source });
  link.append(...parts);
  return [link];
}

function wrapTable(table: HTMLTableElement): void {
  const scroll = Object.assign(document.createElement('div'), { className: 'scroll', tabIndex: 0 });
  table.replaceWith(scroll);
  scroll.append(table);
}
