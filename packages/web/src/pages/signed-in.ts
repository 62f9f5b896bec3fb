import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';

/**
 * The page that a browser shows for a moment when it comes back from the identity provider. It goes on by
 * itself, without JavaScript.
 * @param next the path to go to
 */
export function signedInPage(site: Site, { next }: { readonly next: string }): string {
  const { signIn } = site.words;
  return page(
    { ...site, again: null },
    {
      title: signIn.done,
      head: html`<meta http-equiv="refresh" content="0; url=${next}">\n`,
      main: html`<h1>${signIn.done}</h1>
<p><a class="button primary" href="${next}">${signIn.goOn}</a></p>`,
    },
  );
}
