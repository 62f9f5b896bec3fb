import { fillToken, showRelativeTimes } from './browser-facts.ts';
import { element } from './element.ts';
import { paintTexts } from './highlight/painter.ts';
import type { ShownText } from './paste/lines.ts';
import { startLines } from './paste/start-lines.ts';
import { showEdit, startBar, startCopy } from './paste/toolbar.ts';

// The page of a paste of several files, of which each text is used as the one of another page is.

const { dataset: data } = element('files', HTMLElement);
const { worker: painter = '' } = data;
const texts = [...document.querySelectorAll<HTMLElement>('.file')].flatMap((file): readonly ShownText[] => {
  const content = file.querySelector<HTMLElement>('.content');
  if (content === null) return [];
  return [{ prefix: `${file.id}-`, content, chunks: [...content.querySelectorAll<HTMLElement>('.chunk')] }];
});

showRelativeTimes();
if (fillToken()) showEdit();
startBar();
for (const { prefix, content } of texts) {
  const file = content.parentElement;
  const copy = file?.querySelector<HTMLButtonElement>('button.copy');
  if (copy) startCopy(copy, content);
  const views = file?.querySelector<HTMLElement>('.views');
  if (views)
    void import('./paste/views.ts').then(({ startViews }) =>
      startViews({ prefix, content, views, data, painter, isLazy: true }),
    );
}
startLines(texts);
paintTexts(
  texts.map(({ content, chunks }) => ({ language: content.dataset['language'] ?? '', chunks })),
  painter,
);
