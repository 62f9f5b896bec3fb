import { element } from '../element.ts';

/** The texts that the page has for what happens in the browser. */
export interface SealedWords {
  readonly loading: string;
  readonly decrypting: string;
  readonly noKey: string;
  readonly unreachable: string;
  readonly notRevealed: string;
  readonly gone: string;
  readonly notShown: string;
  readonly insecure: string;
  readonly outdated: string;
  readonly revealed: string;
  readonly tooLarge: string;
  readonly askPassword: string;
  readonly wrong: string;
  readonly onlyCopy: string;
  readonly saveDocument: string;
  readonly attachment: string;
  readonly bidi: string;
  readonly longLines: string;
  readonly cut: string;
  readonly notUtf8: string;
  readonly copy: string;
  readonly copied: string;
  readonly copyFailed: string;
  readonly download: string;
  readonly downloadAll: string;
  readonly fileList: string;
  readonly emptyFile: string;
  readonly binary: string;
  readonly binaryHint: string;
  /** With FORMAT in place of the format. */
  readonly image: string;
  /** With NAME in place of the name. */
  readonly imageAlt: string;
  readonly plainText: string;
  readonly units: { readonly kib: string; readonly mib: string; readonly gib: string };
}

export function wordsOf(box: HTMLElement): SealedWords {
  return JSON.parse(box.dataset['words'] ?? '{}') as SealedWords;
}

export function say(text: string): void {
  element('sealed-status', HTMLElement).textContent = text;
}

/** @param text empty: nothing is wrong any more */
export function fail(text: string): void {
  show(text, 'notice bad');
}

/** A question, which looks like no error. */
export function ask(text: string): void {
  show(text, 'notice attention');
}

function show(text: string, className: string): void {
  const box = element('sealed-error', HTMLElement);
  box.replaceChildren(
    ...(text === '' ? [] : [Object.assign(document.createElement('p'), { className, textContent: text })]),
  );
}
