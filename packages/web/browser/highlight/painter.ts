import { kinds } from './kinds.ts';
import type { FromWorker, ToWorker } from './worker.ts';

/** A chunk of the text, and its text node. */
interface PaintedChunk {
  readonly box: HTMLElement;
  readonly text: Text;
}

/** Chunks are sent to the worker in portions, so that 10 MiB never are in its queue as a whole. */
const CHUNKS_UNDER_WAY = 8;

/**
 * Paints a text in the colours of its language. The worker reads the whole text once, chunk by chunk; ranges
 * exist only for the chunks in view. No element is made: the browser paints ranges of the text itself (the
 * CSS Custom Highlight API).
 */
class Painter {
  readonly #chunks: readonly PaintedChunk[];
  readonly #tokens: (Uint32Array | undefined)[] = [];
  readonly #painted = new Map<number, readonly (readonly [Highlight, AbstractRange])[]>();
  readonly #visible = new Set<number>();
  readonly #highlights: readonly Highlight[];
  readonly #worker: Worker;
  #sent = 0;

  /** @param worker the URL of the worker's module */
  constructor(
    chunks: readonly PaintedChunk[],
    { language, worker }: { readonly language: string; readonly worker: string },
  ) {
    this.#chunks = chunks;
    this.#highlights = kinds.map((kind) => {
      const highlight = new Highlight();
      CSS.highlights.set(kind, highlight);
      return highlight;
    });
    this.#worker = new Worker(worker, { type: 'module' });
    this.#worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => this.#receive(data));
    this.#post({ language });
    const observer = new IntersectionObserver((entries) => this.#look(entries), { rootMargin: '600px' });
    chunks.forEach(({ box }, index) => {
      box.dataset['index'] = String(index);
      observer.observe(box);
    });
    for (let i = 0; i < CHUNKS_UNDER_WAY; i += 1) this.#sendNext();
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #sendNext(): void {
    const chunk = this.#chunks[this.#sent];
    if (chunk === undefined) return;
    this.#post({ chunk: this.#sent, text: chunk.text.data });
    this.#sent += 1;
  }

  #receive({ chunk, tokens }: FromWorker): void {
    this.#tokens[chunk] = tokens;
    if (this.#visible.has(chunk)) this.#paint(chunk);
    this.#sendNext();
    if (chunk === this.#chunks.length - 1) this.#worker.terminate();
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
    const tokens = this.#tokens[chunk];
    const node = this.#chunks[chunk]?.text;
    if (tokens === undefined || node === undefined || this.#painted.has(chunk)) return;
    const ranges: (readonly [Highlight, AbstractRange])[] = [];
    for (let i = 0; i + 2 < tokens.length; i += 3) {
      const [startOffset = 0, endOffset = 0, kind = 0] = tokens.subarray(i, i + 3);
      const highlight = this.#highlights[kind];
      if (highlight === undefined) continue;
      const range = new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset });
      highlight.add(range);
      ranges.push([highlight, range]);
    }
    this.#painted.set(chunk, ranges);
  }

  #erase(chunk: number): void {
    for (const [highlight, range] of this.#painted.get(chunk) ?? []) highlight.delete(range);
    this.#painted.delete(chunk);
  }
}

/** Paints the text of the page in the colours of its language, which the page names. */
export function startHighlighting(content: HTMLElement, chunks: readonly HTMLElement[]): void {
  const { language = '', worker = '' } = content.dataset;
  if (language === '' || language === 'text' || !('highlights' in CSS)) return;
  new Painter(chunks.flatMap(paintedChunk), { language, worker });
}

/** A folded line stays plain: its mode could take seconds for it. */
function paintedChunk(box: HTMLElement): readonly PaintedChunk[] {
  const text = box.querySelector('pre')?.firstChild;
  return text instanceof Text && !box.classList.contains('long') ? [{ box, text }] : [];
}
