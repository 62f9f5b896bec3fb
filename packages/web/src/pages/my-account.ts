import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { words } from '../words.ts';

/** Who the user is, what belongs to the user, and the end of it. An export comes first. */
export function myAccountPage(
  site: Site,
  { name, exportFormats }: { readonly name: string; readonly exportFormats: readonly string[] },
): string {
  const { myAccount: text, myJobs, signIn } = words;
  const { base } = site;
  return page(site, {
    title: text.title,
    place: '/my/account',
    main: html`<h1>${text.title}</h1>
<p>${signIn.signedInAs} <strong><bdi>${name}</bdi></strong></p>
<p class="toolbar"><a class="button" href="${base}/my/pastes">${words.myPastes.title}</a> <a class="button" href="${base}/my/jobs">${myJobs.title}</a> <a class="button" href="${base}/my/sessions">${words.mySessions.title}</a></p>
<form method="post" action="${base}/session/end"><p><button type="submit">${signIn.signOut}</button></p></form>
<h2>${text.exportTitle}</h2>
<form class="narrow" method="post" action="${base}/my/jobs/export">
<p>${text.exportHint}</p>
<div class="field"><label for="format">${myJobs.format}</label><select id="format" name="format">${exportFormats.map((format) => html`<option>${format}</option>`)}</select></div>
<p><button class="primary" type="submit">${myJobs.startExport}</button></p>
</form>
<h2>${text.eraseTitle}</h2>
<form class="narrow" method="post" action="${base}/my/account/erase">
<p>${text.eraseHint}</p>
<div class="field"><label for="name">${text.nameField}</label><input id="name" name="name" required autocomplete="off" spellcheck="false" aria-describedby="name-hint"><p id="name-hint" class="hint">${text.nameHint} <bdi>${name}</bdi></p></div>
<p><button class="danger" type="submit">${text.erase}</button></p>
</form>`,
  });
}

/** After the erasure has begun. Nobody is signed in. */
export function accountErasedPage(site: Site): string {
  const { myAccount: text } = words;
  return page(site, {
    title: text.erased,
    main: html`<div class="card"><h1>${text.erased}</h1>
<p>${text.erasedHint}</p>
<p><a class="button" href="${site.base}/">${text.goOn}</a></p></div>`,
  });
}
