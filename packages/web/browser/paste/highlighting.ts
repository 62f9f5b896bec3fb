import { Painter, type PaintedChunk } from '../highlight/painter.ts';

/** Paints the text of the page in the colours of its language, which the page names. */
export function startHighlighting(content: HTMLElement, chunks: readonly HTMLElement[]): void {
  const { language = '', worker = '' } = content.dataset;
  if (language === '' || language === 'text' || !('highlights' in CSS)) return;
  new Painter(chunks.flatMap(paintedChunk), { language, worker });
}

/** A folded line stays plain: its mode could take seconds for it. */
function paintedChunk(box: HTMLElement): readonly PaintedChunk[] {
  const text = box.querySelector('pre')?.firstChild;
  return text instanceof Text && !box.classList.contains('long') ? [{ box, text }] : [];
}
