import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';

/** The page of an address in which a program has written %23 for #. Its script goes to the right one. */
export function rightAddressPage(site: Site, path: string): string {
  const { paste: text, created } = site.words;
  return page(site, {
    title: text.rightAddress.title,
    scripts: ['right-address.js'],
    hasStylesInside: true,
    main: html`<div class="card"><h1>${text.rightAddress.title}</h1>
<p>${text.rightAddress.text}</p>
<p><a id="right" class="button primary" href="${site.base}/${path}">${created.open}</a></p></div>`,
  });
}
