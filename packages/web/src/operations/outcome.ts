import { formatTime } from '../html/formats.ts';
import { html } from '../html/html.ts';
import { operationsPage, type OperationsSite } from './layout.ts';
import { operationsWords as words } from './words.ts';

interface ShownAction {
  readonly id: string;
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
  const { id, at, actor, title, subject, reason, outcome } = shown;
  return operationsPage(site, {
    title,
    main: html`<h1>${title} ${subject !== null && html`<bdi>${subject}</bdi>`}</h1>
<p class="meant" role="status">${outcome ?? words.running}</p>
<dl class="facts"><div><dt>${words.at}</dt><dd>${formatTime(at)}</dd></div><div><dt>${words.by}</dt><dd><bdi>${actor}</bdi></dd></div><div><dt>${words.reason}</dt><dd><bdi>${reason}</bdi></dd></div></dl>
<p class="toolbar">${outcome === null && html`<a class="button" href="${site.base}/actions/${id}">${words.reload}</a>`} <a class="button" href="${site.base}/">${words.back}</a></p>`,
  });
}
