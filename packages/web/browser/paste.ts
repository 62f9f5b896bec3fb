import { fillToken, showRelativeTimes } from './browser-facts.ts';
import { element, optional } from './element.ts';
import { startHighlighting } from './highlight/painter.ts';
import { startLines } from './paste/start-lines.ts';
import { startToolbar } from './paste/toolbar.ts';

const content = element('content', HTMLElement);
const chunks = [...content.querySelectorAll<HTMLElement>('.chunk')];

showRelativeTimes();
if (fillToken()) showEdit();
startToolbar(content);
startLines(content, chunks);
startHighlighting(content, chunks);
const views = optional('views', HTMLElement);
if (views !== null) void import('./paste/views.ts').then(({ startViews }) => startViews(views, content));

/** Whoever has the delete token edits as the owner does, and looks for it beside the other buttons. */
function showEdit(): void {
  const edit = document.querySelector('.bar .edit');
  if (edit !== null) edit.closest('.bar')?.prepend(edit);
}
