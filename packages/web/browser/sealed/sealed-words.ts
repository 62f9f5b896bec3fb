/** The texts that the page has for what happens in the browser. */
export interface SealedWords {
  readonly loading: string;
  readonly decrypting: string;
  readonly noKey: string;
  readonly unreachable: string;
  readonly notRevealed: string;
  readonly gone: string;
  readonly unknownFormat: string;
  readonly tooLarge: string;
  readonly askPassword: string;
  readonly wrong: string;
  readonly onlyCopy: string;
  readonly saveDocument: string;
  readonly attachment: string;
  readonly bidi: string;
  readonly longLines: string;
  readonly cut: string;
}

export function wordsOf(box: HTMLElement): SealedWords {
  return JSON.parse(box.dataset['words'] ?? '{}') as SealedWords;
}
