import { kinds } from './kinds.ts';
import type { FromWorker, ToWorker } from './worker.ts';

/** A chunk of a text. */
export interface PaintedChunk {
  readonly box: HTMLElement;
  /** The whole text of the chunk: one node, one for each row, or several with the marks of a diff. */
  readonly nodes: readonly Text[];
  /** The language of a text that begins with this chunk; null: the text goes on. */
  readonly language: string | null;
}

/** The characters of a text that a grammar reads: it wants the whole text, and takes its time. */
const MAX_WHOLE_TEXT = 1024 * 1024;

/** Chunks of a longer text are sent to the worker in portions, so that 10 MiB never are in its queue as a whole. */
const CHUNKS_UNDER_WAY = 8;

/** A worker that is silent for so long reads a text that was written to take long. */
const MAX_SILENCE_MS = 20_000;

/**
 * Paints texts in the colours of their languages. The worker reads each text once; ranges exist only for the chunks
 * in view. No element is made: the browser paints ranges of the text itself (the
 * CSS Custom Highlight API).
 */
export class Painter {
  readonly #chunks: readonly PaintedChunk[];
  readonly #tokens: (Uint32Array | undefined)[] = [];
  readonly #painted = new Map<number, readonly (readonly [Highlight, AbstractRange])[]>();
  readonly #visible = new Set<number>();
  readonly #highlights: readonly Highlight[];
  readonly #worker: Worker;
  #sent = 0;
  #received = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;

  /** @param worker the URL of the worker's module */
  constructor(chunks: readonly PaintedChunk[], worker: string) {
    this.#chunks = chunks;
    this.#highlights = kinds.map((kind) => {
      const highlight = CSS.highlights.get(kind) ?? new Highlight();
      CSS.highlights.set(kind, highlight);
      return highlight;
    });
    this.#worker = new Worker(worker, { type: 'module' });
    this.#worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => this.#receive(data));
    const observer = new IntersectionObserver((entries) => this.#look(entries), { rootMargin: '600px' });
    chunks.forEach(({ box }, index) => {
      box.dataset['index'] = String(index);
      observer.observe(box);
    });
    for (let i = 0; i < CHUNKS_UNDER_WAY; i += 1) this.#sendNext();
    this.#awaitAnswer();
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #sendNext(): void {
    const first = this.#sent;
    const chunk = this.#chunks[first];
    if (chunk === undefined) return;
    const { language } = chunk;
    if (language !== null) {
      const next = this.#chunks.findIndex((each, index) => index > first && each.language !== null);
      const whole = this.#chunks.slice(first, next === -1 ? undefined : next);
      if (lengthOf(whole) <= MAX_WHOLE_TEXT) {
        this.#post({ language, first, chunks: whole.map(textOf) });
        this.#sent += whole.length;
        return;
      }
      this.#post({ language });
    }
    this.#post({ chunk: first, text: textOf(chunk) });
    this.#sent += 1;
  }

  #receive({ chunk, tokens }: FromWorker): void {
    this.#tokens[chunk] = tokens;
    if (this.#visible.has(chunk)) this.#paint(chunk);
    this.#sendNext();
    this.#received += 1;
    this.#awaitAnswer();
  }

  #awaitAnswer(): void {
    clearTimeout(this.#silence);
    if (this.#received === this.#chunks.length) this.#worker.terminate();
    else this.#silence = setTimeout(() => this.#worker.terminate(), MAX_SILENCE_MS);
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

function textOf({ nodes }: PaintedChunk): string {
  return nodes.map(({ data }) => data).join('');
}

function lengthOf(chunks: readonly PaintedChunk[]): number {
  return chunks.reduce((sum, { nodes }) => nodes.reduce((length, node) => length + node.length, sum), 0);
}

/** Chromium paints a solid box on each highlight where the reader's system forces its colours. */
export function canPaint(): boolean {
  return 'highlights' in CSS && !matchMedia('(forced-colors: active)').matches;
}

/** Paints the text of the page in the colours of its language, which the page names. */
export function startHighlighting(content: HTMLElement, chunks: readonly HTMLElement[]): void {
  const { language = '', worker = '' } = content.dataset;
  if (language === '' || language === 'text' || !canPaint()) return;
  const painted = chunks.flatMap(paintedChunk);
  new Painter(
    painted.map((chunk, index) => ({ ...chunk, language: index === 0 ? language : null })),
    worker,
  );
}

/** A folded line stays plain: its mode could take seconds for it. */
function paintedChunk(box: HTMLElement): readonly Omit<PaintedChunk, 'language'>[] {
  if (box.classList.contains('long')) return [];
  const nodes = [...box.querySelectorAll(':scope > :is([data-n], pre)')].map((each) => each.firstChild);
  return [{ box, nodes: nodes.filter((node) => node instanceof Text) }];
}
