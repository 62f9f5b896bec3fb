import { fillToken, showRelativeTimes } from './browser-facts.ts';
import { element } from './element.ts';
import { startHighlighting } from './highlight/painter.ts';
import { LineSelection } from './paste/lines.ts';
import { startToolbar } from './paste/toolbar.ts';
import { startViews } from './paste/views.ts';

const content = element('content', HTMLElement);
const chunks = [...content.querySelectorAll<HTMLElement>('.chunk')];

showRelativeTimes();
fillToken();
startToolbar(content);
startViews(content);
new LineSelection(content, chunks);
startHighlighting(content, chunks);
