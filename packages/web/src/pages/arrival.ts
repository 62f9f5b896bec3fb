import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';

/**
 * The page that a browser shows for a moment when another site has led it here, before it is known who it is. Its
 * script goes on to the same address, with the part behind `#`. Without JavaScript nothing keeps that part.
 * @param here the path of the page
 * @param byItself false: it only has a button that goes on
 */
export function arrivalPage(site: Site, here: string, byItself: boolean): string {
  const { members: text, signIn } = site.words;
  return page(
    { ...site, again: null },
    {
      title: text.arrival,
      scripts: byItself ? ['arrival.js'] : [],
      hasStylesInside: true,
      ...(byItself && {
        head: html`<noscript><meta http-equiv="refresh" content="0; url=${here}"></noscript>\n`,
      }),
      main: html`<div class="card"><h1>${text.arrival}</h1>
<p>${byItself ? text.arrivalWhy : text.arrivalAsks}</p>
<p><a class="button primary" href="${here}">${signIn.goOn}</a></p></div>`,
    },
  );
}
