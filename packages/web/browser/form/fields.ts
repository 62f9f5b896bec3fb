import { optional } from '../element.ts';
import { detected } from './detect.ts';

/** Somebody who types gets the answer when they pause. */
const PAUSE_MS = 200;

/** The choice of the language. Its first option names the language that is detected. */
export class SyntaxField {
  readonly select: HTMLSelectElement;
  readonly #option: HTMLOptionElement | undefined;
  readonly #undetected: string;
  readonly #read: () => Parameters<typeof detected>[0];
  readonly #onShown: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param select as the page has it: nothing is detected yet */
  constructor(
    select: HTMLSelectElement,
    read: () => Parameters<typeof detected>[0],
    onShown: () => void = () => {},
  ) {
    this.select = select;
    this.#option = select.options[0];
    this.#undetected = this.#option?.textContent ?? '';
    this.#read = read;
    this.#onShown = onShown;
  }

  /** The language to send; empty: none is chosen, and none is certain. */
  get value(): string {
    const chosen = this.select.matches(':disabled') ? '' : this.select.value; // out of sight
    return chosen || (this.#show()?.id ?? '');
  }

  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#show();
      this.#onShown();
    }, PAUSE_MS);
  }

  #show() {
    const language = detected(this.#read());
    const words = this.#option?.dataset['detected'] ?? '';
    const name = language === null ? this.#undetected : words.replace('{name}', language.name);
    if (this.#option !== undefined && this.#option.textContent !== name) this.#option.textContent = name;
    return language;
  }
}

/**
 * Shows beside the field why the slug was refused.
 * @param reason empty: it was not
 * @returns false: only those who are signed in have the field
 */
export function refuseSlug(reason: string): boolean {
  const slug = optional('slug', HTMLInputElement);
  const shown = document.getElementById('slug-error');
  if (slug === null || shown === null) return false;
  shown.textContent = reason;
  if (reason === '') {
    slug.removeAttribute('aria-invalid');
    return true;
  }
  slug.setAttribute('aria-invalid', 'true');
  const more = slug.closest('details');
  if (more !== null) more.open = true;
  slug.focus();
  return true;
}

/** The reasons on the page of a problem. Its links and buttons belong to that page. @param isTitled with its title */
export function reasonsOf(main: HTMLElement, isTitled: boolean): readonly HTMLElement[] {
  const hasTitle = isTitled && main.querySelector('li') === null;
  const parts = `${hasTitle ? 'h1, ' : ''}.reason p, p.reason, li`;
  return [...main.querySelectorAll(parts)].map((each) => {
    const shown = document.createElement('p');
    shown.append(...each.childNodes); // a part may be in another language
    return shown;
  });
}

/**
 * Nobody has made the paste: it would belong to another user than the page names, or to nobody. Its button sends
 * the form for the user who is signed in now.
 * @param onTaken gets the name of that user; empty: nobody
 * @returns null: it is the page of another refusal
 */
export function otherUserOf(
  answer: Document,
  formUser: HTMLInputElement,
  onTaken: (viewer: string) => void,
): readonly ChildNode[] | null {
  const shown = answer.getElementById('other-user');
  shown?.querySelector('button')?.addEventListener('click', () => {
    const now = answer.querySelector<HTMLFormElement>('#new-paste');
    formUser.value = now?.querySelector<HTMLInputElement>('[name=form_user]')?.value ?? '';
    onTaken(now?.dataset['viewer'] ?? '');
    for (const part of ['header.site nav', 'header.site .account'])
      document.querySelector(part)?.replaceWith(answer.querySelector(part) ?? '');
  });
  return shown === null ? null : [...shown.childNodes];
}
