import DOMPurify from 'dompurify';
import { languageNamed } from '@pasteflow/domain';
import { Painter } from '../highlight/painter.ts';
import type { Rendered } from './markdown-worker.ts';
import { SIMPLE_TAGS } from './simple-tags.ts';

/**
 * A text that takes longer was written to take long. It runs in a worker, so that the page answers meanwhile.
 */
const DEADLINE_MS = 10_000;

/**
 * A text as it looks; null when it cannot be rendered in time.
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
  }: {
    readonly worker: string;
    readonly styles: string;
    readonly painter: string;
    readonly imageLabel: string;
  },
): Promise<HTMLElement | null> {
  const worker = new Worker(url, { type: 'module' });
  try {
    const [markup] = await Promise.all([answerOf(worker, text), loadStyles(styles)]);
    if (markup === null) return null;
    const article = Object.assign(document.createElement('article'), { className: 'rendered' });
    article.append(cleanFragment(markup, imageLabel));
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
  if (!('highlights' in CSS)) return;
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
  return await new Promise((resolve) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Rendered>) => resolve(data));
    worker.addEventListener('error', () => resolve(null));
    setTimeout(() => resolve(null), DEADLINE_MS);
    worker.postMessage(text);
  });
}

/**
 * No `id`, `name` and `class`: an element of a paste could take the place of one of the page. No spans of
 * cells: a table of them takes long to lay out.
 */
const ATTRIBUTES = ['align', 'alt', 'href', 'src', 'start'];

/** A relative link would lead to a page of this service, which the author of a paste cannot mean. */
const ABSOLUTE = /^(?:https?|mailto):/i;

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
    ADD_URI_SAFE_ATTR: ['align', 'start'], // no addresses
    ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
    RETURN_DOM_FRAGMENT: true,
  });
  for (const image of fragment.querySelectorAll('img')) image.replaceWith(insteadOf(image, imageLabel));
  for (const link of fragment.querySelectorAll('a')) link.rel = 'noopener noreferrer nofollow ugc';
  for (const code of fragment.querySelectorAll('pre')) code.tabIndex = 0; // so that the keyboard can scroll it
  for (const table of fragment.querySelectorAll('table')) wrapTable(table);
  return fragment;
}

/**
 * A link, because an image from elsewhere would tell its host who reads the paste. The page's policy refuses
 * it, too.
 */
function insteadOf(image: HTMLImageElement, label: string): Node {
  const source = image.getAttribute('src') ?? '';
  const text = `${label}: ${image.alt === '' ? source.slice(0, 100) : image.alt}`;
  if (!/^https?:/i.test(source) || image.closest('a') !== null) return document.createTextNode(text);
  return Object.assign(document.createElement('a'), { href: source, textContent: text });
}

function wrapTable(table: HTMLTableElement): void {
  const scroll = Object.assign(document.createElement('div'), { className: 'scroll', tabIndex: 0 });
  table.replaceWith(scroll);
  scroll.append(table);
}
