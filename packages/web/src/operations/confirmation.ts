import { html, type Html } from '../html/html.ts';
import { operationsPage, type OperationsSite } from './layout.ts';
import { operationsWords as words } from './words.ts';

interface ShownConfirmation {
  readonly action: string;
  readonly title: string;
  /** null: the action has none. */
  readonly subject: string | null;
  /** How many are meant, as a sentence: `This takes down 12 pastes.` */
  readonly sentence: string;
  readonly count: number;
  /** The classes of a takedown to choose from; null: the action has none. */
  readonly classes: readonly string[] | null;
  /** More is meant now than the operator has confirmed. */
  readonly hasChanged: boolean;
}

/** The step before an action: how many are meant, and the reason. Nothing is done until the form is sent. */
export function confirmationPage(site: OperationsSite, shown: ShownConfirmation): string {
  const { action, title, subject, sentence, count, classes, hasChanged } = shown;
  return operationsPage(site, {
    title,
    main: html`<h1>${title}${subject !== null && html` <bdi>${subject}</bdi>`}</h1>
${hasChanged && html`<p class="notice bad" role="alert">${words.changed}</p>`}
<p class="meant">${sentence}</p>
<form method="post" action="${site.base}/act/${action}">
${subject !== null && html`<input type="hidden" name="subject" value="${subject}">`}
<input type="hidden" name="count" value="${count}">
${classes !== null && classField(classes)}
<div class="field"><label for="reason">${words.reasonField}</label><input id="reason" name="reason" required maxlength="500" autocomplete="off"></div>
<p class="toolbar"><button class="danger"${count === 0 && html` disabled`}>${words.confirm}</button> <a class="button" href="${site.base}/">${words.cancel}</a></p>
</form>`,
  });
}

function classField(classes: readonly string[]): Html {
  return html`<div class="field"><label for="class">${words.class}</label><select id="class" name="class" required><option value=""></option>${classes.map((each) => html`<option value="${each}">${each.replaceAll('_', ' ')}</option>`)}</select></div>`;
}
