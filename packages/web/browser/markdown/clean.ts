import DOMPurify from 'dompurify';
import { SIMPLE_TAGS } from './simple-tags.ts';

/**
 * No `id`, `name` and `class`: an element of a paste could take the place of one of the page. No spans of cells: a
 * table of them takes long to lay out.
 */
const ATTRIBUTES = ['align', 'alt', 'href', 'src', 'start'];

/** A relative link would lead to a page of this service, which the author of a paste cannot mean. */
const ABSOLUTE = /^(?:https?|mailto):/i;

/**
 * The elements of untrusted markup that are safe to show. A fragment, because markup that is written and read again
 * can change its meaning.
 * @param imageLabel stands before the text of an image
 */
export function cleanFragment(markup: string, imageLabel: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(markup, {
    ALLOWED_TAGS: ['a', 'img', ...SIMPLE_TAGS],
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: ABSOLUTE,
    ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
    RETURN_DOM_FRAGMENT: true,
  });
  for (const image of fragment.querySelectorAll('img')) image.replaceWith(insteadOf(image, imageLabel));
  for (const link of fragment.querySelectorAll('a')) link.rel = 'noopener noreferrer nofollow ugc';
  for (const code of fragment.querySelectorAll('pre')) code.tabIndex = 0; // so that the keyboard can scroll it
  for (const table of fragment.querySelectorAll('table')) wrapTable(table);
  return fragment;
}

/** A link, because an image from elsewhere would tell its host who reads the paste. The page's policy refuses it, too. */
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
