import { element } from '../element.ts';
import { shownText } from './shown-text.ts';
import type { ShownText } from './lines.ts';

/** The reader waits without a word for as long as nobody notices a wait. */
const SLOW_MS = 300;

interface MarkdownText extends Omit<ShownText, 'chunks'> {
  /** Has the switch between the text as it looks, which is shown first, and its source. */
  readonly views: HTMLElement;
  /** Has the words and the addresses of the modules that render. */
  readonly data: DOMStringMap;
  /** The address of the module that reads the code in a text. */
  readonly painter: string;
  /** The text becomes another height only when it is near the view, so that what is in view stays there. */
  readonly isLazy: boolean;
}

/** A Markdown text as it looks, and its source, which an address of lines shows. */
export function startViews({ prefix, content, views, data, painter, isLazy }: MarkdownText): void {
  const [source, rendered] = views.querySelectorAll('button');
  if (source === undefined || rendered === undefined) return;
  const status = element('paste-status', HTMLElement);
  const wrap = prefix === '' ? element('wrap', HTMLElement) : null;
  const { markdown: worker = '', styles = '', image = '', alerts = '{}' } = data;
  const { busy = '', failed = '', missing = '' } = data;
  let article: HTMLElement | null = null;
  /** The reader may ask for the source while the text is being rendered. */
  let wantsSource = false;

  const show = (shown: HTMLElement): void => {
    delete views.dataset['pending'];
    source.setAttribute('aria-pressed', String(shown === content));
    rendered.setAttribute('aria-pressed', String(shown === article));
    content.hidden = shown !== content;
    if (wrap !== null) wrap.hidden = content.hidden; // the rendered text always wraps
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
    const parts = partsOf(article);
    withPrefix(article, prefix);
    article.prepend(...[...content.querySelectorAll('.warning')].map((warning) => warning.cloneNode(true)));
    content.after(article);
    show(wantsSource ? content : article);
    if (!wantsSource && location.hash.startsWith(`#${prefix}`))
      partNamed(parts, location.hash.slice(1 + prefix.length))?.scrollIntoView();
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
  /** The address selects lines of the source. Other parts of addresses lead to headings. */
  const selectsLines = (): boolean =>
    location.hash.startsWith(`#${prefix}`) && /^L\d/.test(location.hash.slice(1 + prefix.length));
  addEventListener('hashchange', () => {
    if (selectsLines()) showSource();
  });
  views.hidden = false;
  if (selectsLines()) showSource();
  else if (isLazy) onceNear(content, () => void tryToRender());
  else void tryToRender();
}

function onceNear(box: HTMLElement, action: () => void): void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      if (!box.hidden) action();
    },
    { rootMargin: '600px' },
  );
  observer.observe(box);
}

/** Two texts of a page may have a heading of the same name. Links lead to that of their own text. */
function withPrefix(article: HTMLElement, prefix: string): void {
  if (prefix === '') return;
  for (const part of article.querySelectorAll('[id]')) part.id = prefix + part.id;
  for (const link of article.querySelectorAll('a[href^="#"]'))
    link.setAttribute('href', `#${prefix}${link.getAttribute('href')?.slice(1) ?? ''}`);
}
