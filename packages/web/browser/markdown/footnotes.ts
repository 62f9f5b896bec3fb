import type { Lexer, MarkedExtension, Token, Tokens } from 'marked';

interface Note {
  readonly tokens: Token[];
  /** From 1, in the order in which the text refers to the notes; null: it does not. */
  number: number | null;
}

/**
 * GitHub's footnotes: `[^1]` in the text, and `[^1]: …` in a line of its own, which goes on in lines that are
 * indented or not empty. The notes stand at the end, in the order of the references.
 */
export class Footnotes {
  readonly #notes = new Map<string, Note>();
  readonly #used: Note[] = [];

  readonly extension: MarkedExtension = {
    extensions: [
      {
        name: 'footnote',
        level: 'block',
        tokenizer: this.#definition(),
        renderer: () => '',
      },
      {
        name: 'reference',
        level: 'inline',
        tokenizer: (src) => this.#reference(src),
        renderer: ({ text, raw }) => this.#link(String(text), raw),
      },
    ],
  };

  /** @param markupOf the markup of the blocks of a note */
  markup(markupOf: (tokens: Token[]) => string): string {
    // A note can refer to others, which are then added to the end.
    let items = '';
    for (const [index, note] of this.#used.entries()) {
      const number = index + 1;
      const text = markupOf(note.tokens).replace(/<\/p>\n$/, '');
      items += `<li id="fn-${number}">${text} <a href="#fnref-${number}">↩</a></li>\n`;
    }
    return items === '' ? '' : `<hr>\n<ol>\n${items}</ol>\n`;
  }

  #definition() {
    const notes = this.#notes;
    let isInNote = false; // notes in each other would use up the stack
    return function read(this: { lexer: Lexer }, src: string): Tokens.Generic | undefined {
      const [head = '', label = ''] = /^\[\^([^\]\s]{1,100})\]:[ \t]*/.exec(src) ?? [];
      if (head === '' || isInNote) return undefined;
      const raw = src.slice(0, endOf(src, head.length));
      const text = raw.slice(head.length).replaceAll(/^(?: {4}|\t)/gm, '');
      const tokens: Token[] = [];
      isInNote = true;
      this.lexer.blockTokens(text, tokens);
      isInNote = false;
      if (!notes.has(label)) notes.set(label, { tokens, number: null });
      return { type: 'footnote', raw };
    };
  }

  #reference(src: string): Tokens.Generic | undefined {
    const [raw = '', label = ''] = /^\[\^([^\]\s]{1,100})\]/.exec(src) ?? [];
    return this.#notes.has(label) ? { type: 'reference', raw, text: label } : undefined;
  }

  /** Only the first reference has an id: the note leads back to it. */
  #link(label: string, raw: string): string {
    const note = this.#notes.get(label);
    if (note === undefined) return raw;
    const isFirst = note.number === null;
    if (isFirst) this.#used.push(note);
    note.number ??= this.#used.length;
    const id = isFirst ? ` id="fnref-${note.number}"` : '';
    return `<sup><a href="#fn-${note.number}"${id}>${note.number}</a></sup>`;
  }
}

/** Where a note ends: before an empty line that no indented one follows, and before the next note. */
function endOf(src: string, start: number): number {
  let end = lineEnd(src, start);
  let isAfterEmpty = false;
  for (let next = end; next < src.length; next = lineEnd(src, next)) {
    const line = src.slice(next, lineEnd(src, next));
    if (line.trim() === '') {
      isAfterEmpty = true;
      continue;
    }
    const isIndented = /^(?: {4}|\t)/.test(line);
    if (!isIndented && (isAfterEmpty || line.startsWith('[^'))) break;
    isAfterEmpty = false;
    end = lineEnd(src, next);
  }
  return end;
}

function lineEnd(src: string, start: number): number {
  const newline = src.indexOf('\n', start);
  return newline === -1 ? src.length : newline + 1;
}
