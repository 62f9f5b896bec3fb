import { showRelativeTimes } from './browser-facts.ts';
import { element } from './element.ts';
import { canPaint, Painter } from './highlight/painter.ts';
import type { PaintedChunk } from './highlight/ranges.ts';

// The changes in the colours of their language. Each run of removed lines is a text by itself: the others
// are one text, as they are in the newer paste.

const changes = element('changes', HTMLElement);
showRelativeTimes();
const texts = [...changes.querySelectorAll<HTMLElement>('[data-language]')].flatMap(chunksOf);
if (texts.length > 0 && canPaint()) new Painter(texts, changes.dataset.worker ?? '');

/** The hunks of a text, which is a file of the paste or all of it. */
function chunksOf(text: HTMLElement): readonly PaintedChunk[] {
  const { language = '' } = text.dataset;
  if (language === '' || language === 'text') return [];
  return [...text.querySelectorAll('section')].flatMap((hunk) => {
    const runs = [...hunk.querySelectorAll<HTMLElement>('.change')];
    const isRemoved = (run: HTMLElement): boolean => run.classList.contains('removed');
    const newer = runs.filter((run) => !isRemoved(run));
    return [...newer, ...runs.filter(isRemoved)].map((box) => ({
      box,
      nodes: textsOf(box),
      language: box === newer[0] || isRemoved(box) ? language : null,
    }));
  });
}

function textsOf(run: HTMLElement): readonly Text[] {
  const walker = document.createTreeWalker(run.querySelector('pre') ?? run, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode() !== null) texts.push(walker.currentNode as Text);
  return texts;
}
