import { terminalKinds } from '../../src/content/terminal.ts';
import { kinds } from './kinds.ts';
import { type PaintedChunk, Ranges } from './ranges.ts';
import type { FromWorker, ToWorker } from './worker.ts';

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
  readonly #ranges: Ranges;
  readonly #worker: Worker;
  #sent = 0;
  #received = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;

  /** @param worker the URL of the worker's module */
  constructor(chunks: readonly PaintedChunk[], worker: string) {
    this.#chunks = chunks;
    this.#ranges = new Ranges(chunks, kinds, (chunk) => this.#tokens[chunk]);
    this.#worker = new Worker(worker, { type: 'module' });
    this.#worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => this.#receive(data));
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
    this.#ranges.repaint(chunk);
    this.#sendNext();
    this.#received += 1;
    this.#awaitAnswer();
  }

  #awaitAnswer(): void {
    clearTimeout(this.#silence);
    if (this.#received === this.#chunks.length) this.#worker.terminate();
    else this.#silence = setTimeout(() => this.#worker.terminate(), MAX_SILENCE_MS);
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

/** Paints the text of the page in the colours of its language, which the page names, or of the terminal it is from. */
export function startHighlighting(content: HTMLElement, chunks: readonly HTMLElement[]): void {
  const { language = '', worker = '' } = content.dataset;
  paintTexts([{ language, chunks }], worker);
}

interface PaintedText {
  readonly language: string;
  readonly chunks: readonly HTMLElement[];
}

/** Paints several texts, by one worker. */
export function paintTexts(texts: readonly PaintedText[], worker: string): void {
  if (!canPaint()) return;
  const isPlain = ({ language }: PaintedText): boolean => language === '' || language === 'text';
  paintTerminal(texts.filter(isPlain).flatMap(({ chunks }) => chunks));
  const painted = texts
    .filter((text) => !isPlain(text))
    .flatMap(({ language, chunks }) =>
      chunks
        // A folded line stays plain: its mode could take seconds for it.
        .filter((box) => !box.classList.contains('long'))
        .map((box, index) => ({ ...paintedChunk(box), language: index === 0 ? language : null })),
    );
  if (painted.length > 0) new Painter(painted, worker);
}

function paintTerminal(chunks: readonly HTMLElement[]): void {
  const painted = chunks.filter(({ dataset }) => dataset['runs'] !== undefined).map(paintedChunk);
  const tokensOf = (chunk: number): Uint32Array =>
    Uint32Array.from(painted[chunk]?.box.dataset['runs']?.split(',') ?? [], Number);
  if (painted.length > 0) new Ranges(painted, terminalKinds, tokensOf);
}

function paintedChunk(box: HTMLElement): Omit<PaintedChunk, 'language'> {
  const nodes = [...box.querySelectorAll(':scope > :is([data-n], pre)')].map((each) => each.firstChild);
  return { box, nodes: nodes.filter((node) => node instanceof Text) };
}
