import { randomUUID } from 'node:crypto';
import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { personText, type Person } from '../html/person.ts';
import { otherDevice } from './my-account.ts';

/**
 * Asks who has the link of an invitation whether to sign in. The form goes to the address of the page itself. Its key
 * tells this page from others that have the link, so that the answer comes again when it was lost.
 */
export function invitationPage(site: Site, person: Person): string {
  const { invitation: text } = site.words;
  return page(
    { ...site, again: null }, // no other address may have the secret
    {
      title: text.title,
      main: html`<div class="card"><h1>${text.title}</h1>
<p>${text.intro(personText(person, site.words))}</p>
<form method="post"><input type="hidden" name="form_key" value="${randomUUID()}" autocomplete="off">
<p><button class="primary" type="submit">${text.accept}</button></p></form></div>`,
    },
  );
}

/** After the invitation is accepted. */
export function invitationAcceptedPage(site: Site, person: Person): string {
  const { invitation: text, signIn } = site.words;
  return page(
    { ...site, again: null },
    {
      title: signIn.done,
      main: html`<div class="card"><h1>${signIn.done}</h1>
<p>${text.accepted(personText(person, site.words))}</p>
<p>${text.another}</p>
${otherDevice(site)}<p><a class="button primary" href="${site.base}/">${signIn.goOn}</a></p></div>`,
    },
  );
}
