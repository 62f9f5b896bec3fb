import { element, optional } from '../element.ts';

/**
 * The switch between the source of a Markdown paste and its rendered form, which is loaded at the first wish.
 */
export function startViews(content: HTMLElement): void {
  const views = optional('views', HTMLElement);
  if (views === null) return;
  const [source, rendered] = views.querySelectorAll('button');
  if (source === undefined || rendered === undefined) return;
  const status = element('paste-status', HTMLElement);
  const wrap = element('wrap', HTMLElement);
  const { worker = '', image = '', busy = '', failed = '' } = views.dataset;
  let article: HTMLElement | null = null;

  const show = (shown: HTMLElement): void => {
    source.setAttribute('aria-pressed', String(shown === content));
    rendered.setAttribute('aria-pressed', String(shown === article));
    content.hidden = shown !== content;
    wrap.hidden = content.hidden; // the rendered text always wraps
    if (article !== null) article.hidden = shown !== article;
  };
  const render = async (): Promise<void> => {
    if (article !== null) return show(article);
    rendered.disabled = true;
    status.textContent = busy;
    const { rendered: make } = await import('../markdown/show.ts');
    article = await make(textOf(content), { worker, imageLabel: image });
    status.textContent = article === null ? failed : '';
    if (article === null) return; // stays disabled: another attempt would end in the same way
    rendered.disabled = false;
    article.prepend(...[...content.querySelectorAll('.warning')].map((warning) => warning.cloneNode(true)));
    content.after(article);
    show(article);
  };
  source.addEventListener('click', () => show(content));
  rendered.addEventListener('click', () => void render());
  addEventListener('hashchange', () => show(content)); // the address selects lines of the source
  views.hidden = false;
}

/** The text that is in the page. A folded line ends where the next chunk has a number again. */
function textOf(content: HTMLElement): string {
  return [...content.querySelectorAll('.chunk')]
    .map((chunk, index, chunks) => {
      const text = chunk.querySelector('pre')?.textContent ?? '';
      const next = chunks[index + 1]?.querySelector('.numbers')?.textContent ?? '';
      return chunk.classList.contains('long') && next !== '' ? `${text}\n` : text;
    })
    .join('');
}
