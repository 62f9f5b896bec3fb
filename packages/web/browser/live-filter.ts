import { element } from './element.ts';

/** While one types, the list is asked for after a pause. */
const PAUSE_MS = 250;

/**
 * Shows the list of a filter as soon as the filter changes, without leaving the page: the field keeps the focus. The
 * address follows, so that a reload and a link show the same.
 * @param shown called when the list has changed
 */
export function startFilter(shown: () => void): void {
  const form = document.querySelector<HTMLFormElement>('form.filter');
  if (form !== null) follow(form, element('found', HTMLElement), shown);
}

function follow(form: HTMLFormElement, found: HTMLElement, shown: () => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let request = new AbortController();
  const button = form.querySelector('button');
  const setNeeded = (isNeeded: boolean): void => {
    if (button !== null) button.hidden = !isNeeded; // Enter sends the form also while it is hidden
  };
  setNeeded(false);
  form.addEventListener('input', ({ target }) => {
    clearTimeout(timer);
    timer = setTimeout(() => void show(), target instanceof HTMLInputElement ? PAUSE_MS : 0);
  });

  async function show(): Promise<void> {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    const address = new URL(form.action);
    for (const [name, value] of new FormData(form))
      if (typeof value === 'string' && value !== '') address.searchParams.set(name, value);
    try {
      const answer = await fetch(address, { headers: { Accept: 'text/html' }, signal });
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(found.id);
      if (signal.aborted) return;
      if (next === null) {
        form.submit(); // the page says what is wrong
        return;
      }
      history.replaceState(null, '', address);
      found.replaceChildren(...next.childNodes);
      shown();
      sayCount(found);
    } catch {
      if (!signal.aborted) setNeeded(true); // the server did not answer
    }
  }
}

function sayCount(found: HTMLElement): void {
  const count = element('count', HTMLElement);
  const rows = found.querySelectorAll('.rows > li').length;
  const nothing = found.querySelector('.card')?.firstChild?.textContent;
  count.textContent = nothing ?? (count.dataset['words'] ?? '').replace('{count}', String(rows));
}
