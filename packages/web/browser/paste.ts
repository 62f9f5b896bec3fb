import { fillToken, showRelativeTimes } from './browser-facts.ts';
import { element, optional } from './element.ts';
import { startHighlighting } from './highlight/painter.ts';
import { startLines } from './paste/start-lines.ts';
import { startToolbar } from './paste/toolbar.ts';

const content = element('content', HTMLElement);
const chunks = [...content.querySelectorAll<HTMLElement>('.chunk')];

showRelativeTimes();
fillToken();
startToolbar(content);
startLines(content, chunks);
startHighlighting(content, chunks);
const views = optional('views', HTMLElement);
if (views !== null) void import('./paste/views.ts').then(({ startViews }) => startViews(views, content));
