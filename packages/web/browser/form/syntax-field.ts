import { element } from '../element.ts';
import { detected } from './detect.ts';

/** Somebody who types gets the answer when they pause. */
const PAUSE_MS = 200;

/** The choice of the language. Its first option names the language that is detected. */
export class SyntaxField {
  readonly #select = element('syntax', HTMLSelectElement);
  readonly #option = this.#select.options[0];
  readonly #undetected = this.#option?.textContent ?? '';
  readonly #read: () => Parameters<typeof detected>[0];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: () => Parameters<typeof detected>[0]) {
    this.#read = read;
  }

  /** The language to send; empty: none is chosen, and none is certain. */
  get value(): string {
    return this.#select.value || (this.#show()?.id ?? '');
  }

  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#show(), PAUSE_MS);
  }

  #show() {
    const language = detected(this.#read());
    const words = this.#option?.dataset['detected'] ?? '';
    const name = language === null ? this.#undetected : words.replace('{name}', language.name);
    if (this.#option !== undefined && this.#option.textContent !== name) this.#option.textContent = name;
    return language;
  }
}
