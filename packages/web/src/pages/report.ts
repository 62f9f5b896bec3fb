import { MAX_REPORT_CHARACTERS, MAX_REPORT_CONTACT_CHARACTERS, type TakedownClass } from '@pasteflow/domain';
import { html } from '../html/html.ts';
import { formUser, onlyReads, page, type Site } from '../html/layout.ts';

/** The form in which a reader asks the operators to take a paste down. */
export function reportPage(
  site: Site,
  {
    short_code,
    hasFiles,
    reasons,
  }: { readonly short_code: string; readonly hasFiles: boolean; readonly reasons: readonly TakedownClass[] },
): string {
  const { report: text } = site.words;
  return page(site, {
    title: text.title(short_code),
    main: html`<div class="card"><h1>${text.title(short_code)}</h1>
<p>${text.intro}${hasFiles && html` ${text.severalFiles}`}</p>
${onlyReads(site)}<form class="narrow" method="post" action="${site.base}/${short_code}/report">${formUser(site)}
<div class="field"><label for="reason">${text.reason}</label><select id="reason" name="reason"
required><option value=""></option>${reasons.map(
      (reason) => html`<option value="${reason}">${text.reasons[reason]}</option>`,
    )}</select></div>
<div class="field"><label for="text">${text.text}</label><textarea id="text" name="text" dir="auto" rows="4"
maxlength="${MAX_REPORT_CHARACTERS}"></textarea></div>
<div class="field"><label for="contact">${text.contact}</label><input id="contact" name="contact"
maxlength="${MAX_REPORT_CONTACT_CHARACTERS}" autocomplete="email" aria-describedby="contact-hint"><p id="contact-hint"
class="hint">${text.contactHint}</p></div>
<p><button class="primary" type="submit">${text.send}</button></p>
</form></div>`,
  });
}

export function reportSentPage(site: Site): string {
  const { report: text } = site.words;
  return page(site, {
    title: text.done,
    main: html`<div class="card"><h1>${text.done}</h1>
<p>${text.doneText}</p>
<p><a class="button" href="${site.base}/">${site.words.problem.back}</a></p></div>`,
  });
}
