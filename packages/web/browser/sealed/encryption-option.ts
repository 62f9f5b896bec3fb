import { element } from '../element.ts';
import type { FormContent } from './seal-form.ts';

/** The part of the form that asks for encryption. It is hidden without JavaScript. */
export class EncryptionOption {
  readonly #wanted = element('encrypt', HTMLInputElement);

  constructor() {
    element('encryption', HTMLFieldSetElement).hidden = false;
    const options = element('encryption-options', HTMLElement);
    const show = (): void => void (options.hidden = !this.#wanted.checked);
    this.#wanted.addEventListener('change', show);
    if (!isSecureContext) {
      this.#wanted.disabled = true; // browsers then have no cipher
      this.#wanted.checked = false;
      element('encrypt-hint', HTMLElement).hidden = false;
    }
    show(); // a browser keeps the choice over a reload
  }

  get isWanted(): boolean {
    return this.#wanted.checked;
  }

  /** The cipher is loaded with the first encryption. */
  async seal(content: Omit<FormContent, 'password'>): Promise<{ readonly body: Blob; readonly key: string }> {
    const { sealForm } = await import('./seal-form.ts');
    return await sealForm({ ...content, password: element('password', HTMLInputElement).value });
  }
}

/** Adds the key to the links of the page that answers the creation: the server has made them without it. */
export function addKey(answer: Document, key: string): void {
  const url = answer.querySelector('#url');
  url?.setAttribute('value', `${url.getAttribute('value') ?? ''}#${key}`);
  const open = answer.querySelector('#open');
  open?.setAttribute('href', `${open.getAttribute('href') ?? ''}#${key}`);
}
