import { languagesWithGrammar, loadGrammar } from './grammars.ts';
import { loadMode } from './modes.ts';
import { Tokenizer } from './tokenizer.ts';

/** All chunks of a text, which a grammar wants at once. */
interface WholeText {
  readonly language: string;
  /** The number of the first chunk. */
  readonly first: number;
  readonly chunks: readonly string[];
}

/** A whole text; or the language of a longer one, whose chunks follow. */
export type ToWorker =
  | WholeText
  | { readonly language: string }
  | { readonly chunk: number; readonly text: string };

export interface FromWorker {
  readonly chunk: number;
  /** Start, end and kind of each token, one after another. */
  readonly tokens: Tokens;
}

type Tokens = Uint32Array<ArrayBuffer>;

let mode: Promise<Tokenizer | null> | undefined;

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => void handle(data));

async function handle(message: ToWorker): Promise<void> {
  if ('chunks' in message) return await readWhole(message);
  if ('language' in message) mode = newTokenizer(message.language);
  else answer(message.chunk, (await mode)?.read(message.text));
}

/** A grammar that can't be loaded or can't read the text leaves it to the mode. */
async function readWhole({ language, first, chunks }: WholeText): Promise<void> {
  const trees = await readByGrammar(language, chunks).catch(() => null);
  const tokenizer = trees === null ? await newTokenizer(language) : null;
  chunks.forEach((text, index) => answer(first + index, trees?.[index] ?? tokenizer?.read(text)));
}

async function readByGrammar(language: string, chunks: readonly string[]): Promise<readonly Tokens[] | null> {
  if (!languagesWithGrammar.includes(language)) return null;
  const [{ readTree }, grammar] = await Promise.all([
    import('./tree.ts'),
    loadGrammar(language, chunks.join('')),
  ]);
  return grammar && readTree(grammar, chunks);
}

async function newTokenizer(language: string): Promise<Tokenizer | null> {
  const found = await loadMode(language);
  return found && new Tokenizer(found);
}

function answer(chunk: number, tokens: Tokens = new Uint32Array()): void {
  postMessage({ chunk, tokens } satisfies FromWorker, { transfer: [tokens.buffer] });
}
