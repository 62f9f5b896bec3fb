/** A chunk of a text. */
export interface PaintedChunk {
  readonly box: HTMLElement;
  /** The whole text of the chunk: one node, one for each row, or several with the marks of a diff. */
  readonly nodes: readonly Text[];
  /** The language of a text that begins with this chunk; null: the text goes on. */
  readonly language: string | null;
}

type Chunks = readonly Omit<PaintedChunk, 'language'>[];

/** The ranges of the tokens of the chunks in view. Each kind of token is a highlight of page.css. */
export class Ranges {
  readonly #chunks: Chunks;
  readonly #tokensOf: (chunk: number) => Uint32Array | undefined;
  readonly #painted = new Map<number, readonly (readonly [Highlight, AbstractRange])[]>();
  readonly #visible = new Set<number>();
  readonly #highlights: readonly Highlight[];

  /** @param tokensOf start, end and kind of each token of a chunk; undefined: not yet known */
  constructor(
    chunks: Chunks,
    kinds: readonly string[],
    tokensOf: (chunk: number) => Uint32Array | undefined,
  ) {
    this.#chunks = chunks;
    this.#tokensOf = tokensOf;
    this.#highlights = kinds.map((kind) => {
      const highlight = CSS.highlights.get(kind) ?? new Highlight();
      CSS.highlights.set(kind, highlight);
      return highlight;
    });
    const observer = new IntersectionObserver((entries) => this.#look(entries), { rootMargin: '600px' });
    chunks.forEach(({ box }, index) => {
      box.dataset['index'] = String(index);
      observer.observe(box);
    });
  }

  /** Paints a chunk whose tokens have become known, if it is in view. */
  repaint(chunk: number): void {
    if (this.#visible.has(chunk)) this.#paint(chunk);
  }

  #look(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const chunk = Number((target as HTMLElement).dataset['index']);
      if (isIntersecting) {
        this.#visible.add(chunk);
        this.#paint(chunk);
      } else {
        this.#visible.delete(chunk);
        this.#erase(chunk);
      }
    }
  }

  #paint(chunk: number): void {
    const tokens = this.#tokensOf(chunk);
    const nodes = this.#chunks[chunk]?.nodes.values();
    let node = nodes?.next().value;
    if (tokens === undefined || this.#painted.has(chunk)) return;
    const ranges: (readonly [Highlight, AbstractRange])[] = [];
    let begin = 0; // of the node, in the text of the chunk; a mark of a diff cuts tokens into several nodes
    for (let i = 0; i + 2 < tokens.length; i += 3) {
      const [start = 0, end = 0, kind = 0] = tokens.subarray(i, i + 3);
      while (node !== undefined && start >= begin + node.length) {
        begin += node.length;
        node = nodes?.next().value;
      }
      const highlight = this.#highlights[kind];
      for (let at = start; at < end && highlight !== undefined && node !== undefined;) {
        const until = Math.min(end, begin + node.length);
        const [startOffset, endOffset] = [at - begin, until - begin];
        const range = new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset });
        highlight.add(range);
        ranges.push([highlight, range]);
        at = until;
        if (at === end) break;
        begin += node.length;
        node = nodes?.next().value;
      }
    }
    this.#painted.set(chunk, ranges);
  }

  #erase(chunk: number): void {
    for (const [highlight, range] of this.#painted.get(chunk) ?? []) highlight.delete(range);
    this.#painted.delete(chunk);
  }
}
