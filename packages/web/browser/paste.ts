import { fillToken, showRelativeTimes } from './browser-facts.ts';
import { element, optional } from './element.ts';
import { startHighlighting } from './highlight/painter.ts';
import { startLines } from './paste/start-lines.ts';
import { showEdit, startToolbar } from './paste/toolbar.ts';

const content = element('content', HTMLElement);
const chunks = [...content.querySelectorAll<HTMLElement>('.chunk')];

showRelativeTimes();
if (fillToken()) showEdit();
startToolbar(content);
startLines([{ prefix: '', content, chunks }]);
startHighlighting(content, chunks);
const views = optional('views', HTMLElement);
if (views !== null) {
  const { dataset: data } = views;
  const { worker: painter = '' } = content.dataset;
  void import('./paste/views.ts').then(({ startViews }) =>
    startViews({ prefix: '', content, views, data, painter, isLazy: false }),
  );
}
