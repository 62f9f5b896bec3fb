import { formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { operationsPage, type OperationsSite } from './layout.ts';
import { en } from '../words/en.ts';
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
  /** The class that is chosen already; null: the operator chooses one. */
  readonly class: string | null;
  /** What the action can do in the same step. */
  readonly options: readonly string[];
  /** The owner of the subject reads the reason, too. */
  readonly isReasonForOwner: boolean;
  /** More is meant now than the operator has confirmed. */
  readonly hasChanged: boolean;
}

/** The step before an action: how many are meant, and the reason. Nothing is done until the form is sent. */
export function confirmationPage(site: OperationsSite, shown: ShownConfirmation): string {
  const { title, subject, sentence, count, hasChanged } = shown;
  return operationsPage(site, {
    title,
    main: html`<h1>${title}${subject !== null && html` <bdi>${subject}</bdi>`}</h1>
${hasChanged && html`<p class="notice bad" role="alert">${words.changed}</p>`}
<p class="meant">${sentence}</p>
${count === 0 ? html`<p>${words.nothingMeant}</p>\n<p><a class="button" href="${site.base}/">${words.back}</a></p>` : confirmingForm(site, shown)}`,
  });
}

function confirmingForm(
  { base }: OperationsSite,
  { action, subject, count, classes, class: chosen, options, isReasonForOwner }: ShownConfirmation,
): Html {
  return html`<form method="post" action="${base}/act/${action}">
${subject !== null && html`<input type="hidden" name="subject" value="${subject}">`}
<input type="hidden" name="count" value="${count}">
${classes !== null && classField(classes, chosen)}
${options.map(
  (option) => html`<p class="check"><input type="checkbox" id="${option}"
name="also" value="${option}"><label for="${option}">${words.options[option] ?? option}</label></p>\n`,
)}
<div class="field"><label for="reason">${isReasonForOwner ? words.reasonForOwner : words.reasonField}</label><input id="reason"
name="reason" required maxlength="500" autocomplete="off"></div>
<p class="toolbar"><button class="danger">${words.confirm}</button> <a class="button" href="${base}/">${words.cancel}</a></p>
</form>`;
}

function classField(classes: readonly string[], chosen: string | null): Html {
  return html`<div class="field"><label for="class">${words.class}</label><select id="class" name="class"
required><option value=""></option>${classes.map(
    (each) =>
      html`<option value="${each}"${each === chosen && html` selected`}>${each.replaceAll('_', ' ')}</option>`,
  )}</select></div>`;
}

interface ShownAction {
  readonly at: string;
  readonly actor: string;
  /** What was done. */
  readonly title: string;
  readonly subject: string | null;
  readonly reason: string;
  /** null: it is still running, or its janitor has died. */
  readonly outcome: string | null;
}

/** What an operator did, and how it ended. Loading it again does nothing again. */
export function outcomePage(site: OperationsSite, shown: ShownAction): string {
  const { at, actor, title, subject, reason, outcome } = shown;
  return operationsPage(site, {
    title,
    ...(outcome === null && { scripts: ['operations.js'], head: refreshWithoutScript }),
    main: html`<h1>${title} ${subject !== null && html`<bdi>${subject}</bdi>`}</h1>
<div id="live"${outcome === null && html` data-refresh-ms="2000"`}><p class="meant" role="status">${outcome ?? words.running}</p></div>
<dl class="facts"><div><dt>${words.at}</dt><dd>${formatTime(at, en)}</dd></div><div><dt>${words.by}</dt>
<dd><bdi>${actor}</bdi></dd></div><div><dt>${words.reason}</dt><dd><bdi>${reason}</bdi></dd></div></dl>
<p><a class="button" href="${site.base}/">${words.back}</a></p>`,
  });
}

const refreshWithoutScript = html`<noscript><meta http-equiv="refresh" content="2"></noscript>\n`;
