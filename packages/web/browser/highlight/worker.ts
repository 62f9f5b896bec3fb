import { loadMode } from './modes.ts';
import { Tokenizer } from './tokenizer.ts';

/** The first message names the language, each other is the text of the next chunk. */
export type ToWorker = { readonly language: string } | { readonly chunk: number; readonly text: string };

export interface FromWorker {
  readonly chunk: number;
  /** Start, end and kind of each token, one after another. */
  readonly tokens: Uint32Array;
}

let tokenizer: Promise<Tokenizer> | undefined;

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => void handle(data));

async function handle(message: ToWorker): Promise<void> {
  if ('language' in message) {
    tokenizer = loadMode(message.language).then((mode) => new Tokenizer(mode));
    return;
  }
  const tokens = (await tokenizer)?.read(message.text);
  if (tokens === undefined) return;
  postMessage({ chunk: message.chunk, tokens } satisfies FromWorker, { transfer: [tokens.buffer] });
}
