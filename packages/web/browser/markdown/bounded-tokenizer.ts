import { Tokenizer, type Tokens } from 'marked';
import { TextTooComplex } from './text-too-complex.ts';

/** Each level of quotes and lists copies the text below it: 256 KiB of `>` would take gigabytes. */
const MAX_DEPTH = 50;

/** A row of a table gets the cells that it lacks, so that 128 KiB of columns and as many of rows make billions. */
const MAX_CELLS = 50_000;

/** @throws TextTooComplex for quotes, lists and tables that are deeper or larger than people write them */
export class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#nested(() => super.blockquote(src));
  }

  override list(src: string): Tokens.List | undefined {
    return this.#nested(() => super.list(src));
  }

  override table(src: string): Tokens.Table | undefined {
    if (cellsOf(src) > MAX_CELLS) throw new TextTooComplex(`A table has more than ${MAX_CELLS} cells.`);
    return super.table(src);
  }

  #nested<T>(read: () => T): T {
    if (this.#depth === MAX_DEPTH)
      throw new TextTooComplex(`Quotes or lists are nested more than ${MAX_DEPTH} deep.`);
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

/** At least the cells of a table that begins here; 0: none does. */
function cellsOf(src: string): number {
  const [head = '', ruler = ''] = src.split('\n', 2);
  if (!ruler.includes('-') || /[^\s|:-]/.test(ruler)) return 0;
  const end = src.indexOf('\n\n');
  const rows = src.slice(0, end === -1 ? undefined : end).split('\n').length;
  return Math.min(head.split('|').length, ruler.split('|').length) * rows;
}
