import { element } from './element.ts';
import { Painter, type PaintedChunk } from './highlight/painter.ts';
import { LineSelection } from './paste/lines.ts';
import { startToolbar } from './paste/toolbar.ts';
import { startViews } from './paste/views.ts';
import { showRelativeTimes } from './times.ts';

const content = element('content', HTMLElement);
const chunks = [...content.querySelectorAll<HTMLElement>('.chunk')];

showRelativeTimes();
startToolbar(content);
startViews(content);
new LineSelection(content, chunks);
startHighlighting(content.dataset);

function startHighlighting({ language = '', worker = '' }: DOMStringMap): void {
  if (language === '' || language === 'text' || !('highlights' in CSS)) return;
  new Painter(chunks.flatMap(paintedChunk), { language, worker });
}

/** A folded line stays plain: its mode could take seconds for it. */
function paintedChunk(box: HTMLElement): readonly PaintedChunk[] {
  const text = box.querySelector('pre')?.firstChild;
  return text instanceof Text && !box.classList.contains('long') ? [{ box, text }] : [];
}
