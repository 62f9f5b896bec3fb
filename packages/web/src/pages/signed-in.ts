import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { words } from '../words.ts';

/**
 * The page that a browser shows for a moment when it comes back from the identity provider. It goes on by
 * itself, without JavaScript.
 * @param next the path to go to
 */
export function signedInPage(site: Site, { next }: { readonly next: string }): string {
  const { signIn } = words;
  return page(site, {
    title: signIn.done,
    head: html`<meta http-equiv="refresh" content="0; url=${next}">\n`,
    main: html`<h1>${signIn.done}</h1>
<p><a class="button primary" href="${next}">${signIn.goOn}</a></p>`,
  });
}
