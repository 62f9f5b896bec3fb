import { element } from '../element.ts';
import { shownText } from './shown-text.ts';

/** The reader waits without a word for as long as nobody notices a wait. */
const SLOW_MS = 300;

/**
 * The switch between a Markdown paste as it looks, which is shown first, and its source, which an address of
 * lines shows.
 */
export function startViews(views: HTMLElement, content: HTMLElement): void {
  const [source, rendered] = views.querySelectorAll('button');
  if (source === undefined || rendered === undefined) return;
  const status = element('paste-status', HTMLElement);
  const wrap = element('wrap', HTMLElement);
  const { worker = '', styles = '', image = '', alerts = '{}' } = views.dataset;
  const { busy = '', failed = '', missing = '' } = views.dataset;
  const painter = content.dataset['worker'] ?? '';
  let article: HTMLElement | null = null;
  /** The reader may ask for the source while the text is being rendered. */
  let wantsSource = false;

  const show = (shown: HTMLElement): void => {
    delete views.dataset['pending'];
    source.setAttribute('aria-pressed', String(shown === content));
    rendered.setAttribute('aria-pressed', String(shown === article));
    content.hidden = shown !== content;
    wrap.hidden = content.hidden; // the rendered text always wraps
    if (article !== null) article.hidden = shown !== article;
  };
  const showSource = (): void => {
    wantsSource = true;
    show(content);
  };
  const render = async (): Promise<void> => {
    wantsSource = false;
    if (article !== null) return show(article);
    rendered.disabled = true;
    const { rendered: make, partNamed, partsOf } = await import('../markdown/show.ts');
    const alertLabels = JSON.parse(alerts) as Readonly<Record<string, string>>;
    article = await make(shownText(content), { worker, styles, painter, imageLabel: image, alertLabels });
    status.textContent = article === null ? failed : '';
    if (article === null) return show(content); // stays disabled: another attempt would end in the same way
    rendered.disabled = false;
    article.prepend(...[...content.querySelectorAll('.warning')].map((warning) => warning.cloneNode(true)));
    content.after(article);
    show(wantsSource ? content : article);
    if (!wantsSource) partNamed(partsOf(article), location.hash.slice(1))?.scrollIntoView();
  };
  const tryToRender = async (): Promise<void> => {
    const slow = setTimeout(() => (status.textContent = busy), SLOW_MS);
    try {
      await render();
    } catch {
      status.textContent = missing; // a module or the worker could not be loaded
      show(content);
    } finally {
      clearTimeout(slow);
    }
  };
  source.addEventListener('click', showSource);
  rendered.addEventListener('click', () => void tryToRender());
  addEventListener('hashchange', () => {
    if (selectsLines()) showSource();
  });
  views.hidden = false;
  if (selectsLines()) showSource();
  else void tryToRender();
}

/** The address selects lines of the source. Other parts of addresses lead to headings. */
const selectsLines = (): boolean => /^#L\d/.test(location.hash);
