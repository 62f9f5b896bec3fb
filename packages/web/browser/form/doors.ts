import { element, optional } from '../element.ts';
import type { EncryptionOption } from '../sealed/encryption-option.ts';
import { forgetDraft } from './draft.ts';

/** What each door has chosen for itself. Everything else that was entered belongs to both. */
interface Chosen {
  readonly burn: boolean;
  readonly encrypt: boolean;
  readonly expires: string;
}

interface DoorsEvents {
  /** While the form is sent, and after that, the door stays. */
  readonly isBusy: () => boolean;
  readonly onChange: () => void;
}

/**
 * The form makes a text or a secret. The links between its two doors work without this module, but give an empty form. With
 * it, they keep what was typed.
 */
export class Doors {
  readonly #form = element('new-paste', HTMLFormElement);
  readonly #text = element('text', HTMLTextAreaElement);
  readonly #expires = element('expires_in', HTMLSelectElement);
  readonly #burn = optional('burn', HTMLInputElement);
  readonly #encryption: EncryptionOption;
  readonly #events: DoorsEvents;
  /** Of the door that is not open; null: nobody has been there. */
  #other: Chosen | null = null;

  constructor(encryption: EncryptionOption, events: DoorsEvents) {
    this.#encryption = encryption;
    this.#events = events;
    if (this.isSecret) encryption.isWanted = true; // without this module the page must not say that it encrypts
    for (const link of document.querySelectorAll<HTMLAnchorElement>('.doors a'))
      link.addEventListener('click', (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // opens another tab
        event.preventDefault();
        if (link.ariaCurrent !== 'page' && !events.isBusy()) this.#enter(link);
      });
    this.#showParts();
  }

  get isSecret(): boolean {
    return this.#form.dataset['door'] === 'secret';
  }

  #enter(link: HTMLAnchorElement): void {
    forgetDraft(); // it belongs to the address
    history.replaceState(history.state, '', link.href);
    const chosen = this.#other ?? {
      burn: !this.isSecret,
      encrypt: !this.isSecret,
      expires: link.dataset['expires'] ?? '',
    };
    this.#other = {
      burn: this.#burn?.checked === true,
      encrypt: this.#encryption.isWanted,
      expires: this.#expires.value,
    };
    if (this.#burn?.disabled === false) this.#burn.checked = chosen.burn;
    this.#encryption.isWanted = chosen.encrypt;
    this.#expires.value = chosen.expires;
    for (const each of document.querySelectorAll('.doors a'))
      each.ariaCurrent = each === link ? 'page' : null;
    const door = link.dataset['door'] ?? '';
    document.title = document.title.replace(headingOf(this.#form.dataset['door']), () => headingOf(door));
    this.#form.dataset['door'] = door;
    const { placeholder, dataset } = this.#text;
    this.#text.placeholder = dataset['otherPlaceholder'] ?? '';
    dataset['otherPlaceholder'] = placeholder;
    this.#showParts();
    this.#events.onChange();
    element('main', HTMLElement).focus(); // a screen reader begins with the other door
  }

  #showParts(): void {
    const { isSecret } = this;
    const more = optional('more', HTMLDetailsElement);
    const unreadable = document.getElementById('unreadable');
    if (more === null || unreadable === null) return; // the form of a newer version has one door
    for (const part of document.querySelectorAll<HTMLElement>('[data-of]')) {
      part.hidden = part.dataset['of'] !== this.#form.dataset['door'];
      if (part instanceof HTMLFieldSetElement) part.disabled = part.hidden;
    }
    if (isSecret) document.querySelector('fieldset[data-of]')?.before(unreadable);
    else more.querySelector('summary')?.after(unreadable);
    more.hidden = isSecret && more.querySelector('.field') === null;
    element('encryption', HTMLFieldSetElement).hidden = isSecret && !isSecureContext;
    const insecure = document.getElementById('insecure');
    if (insecure !== null) insecure.hidden = !isSecret || isSecureContext;
  }
}

const headingOf = (door = ''): string => document.querySelector(`h1 [data-of="${door}"]`)?.textContent ?? '';
