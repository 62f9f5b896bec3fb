import { element, optional } from '../element.ts';
import type { FormContent } from './seal-form.ts';

/** The part of the form that asks for encryption. It is hidden without JavaScript. The form of a newer version has none. */
export class EncryptionOption {
  readonly #wanted = optional('encrypt', HTMLInputElement);

  constructor() {
    const wanted = this.#wanted;
    if (wanted === null) return;
    element('encryption', HTMLFieldSetElement).hidden = false;
    wanted.addEventListener('change', () => this.#show());
    if (!isSecureContext) {
      wanted.disabled = true; // browsers then have no cipher
      wanted.checked = false;
      element('encrypt-hint', HTMLElement).hidden = false;
    }
    this.#show(); // a browser keeps the choice over a reload
  }

  get isWanted(): boolean {
    return this.#wanted?.checked === true;
  }

  /** Where the browser can't encrypt, nothing is. */
  set isWanted(isWanted: boolean) {
    if (this.#wanted === null || this.#wanted.disabled) return;
    this.#wanted.checked = isWanted;
    this.#show();
  }

  #show(): void {
    element('encryption-options', HTMLElement).hidden = !this.isWanted;
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
