import type { Cluster } from '../cluster.ts';
import { filesOf } from './plan.ts';

/** What may be answered while the paste ends or a fault lasts. */
const REFUSALS = [403, 410, 429, 451, 500, 503];
/** A frozen process answers after 12 s. */
const ANSWER_WITHIN_MS = 120_000;
/** Of the end of a zip without a comment, and of what its directory says of a file, without the names. */
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const HEADER_BYTES = 30;

/** Compares single files and archives with what was created. The history is of whole pastes, and has none of them. */
export class FileReads {
  readonly #cluster: Cluster;
  readonly #seed: number;
  /** The numbers of the pastes with several files, by their short codes. */
  readonly #numbers = new Map<string, number>();
  readonly #problems: string[] = [];

  constructor(cluster: Cluster, seed: number) {
    this.#cluster = cluster;
    this.#seed = seed;
  }

  created(n: number, code: string): void {
    if (filesOf(this.#seed, n) !== undefined) this.#numbers.set(code, n);
  }

  /** Reads a file or the archive, when the paste has several. @param turn which of them, and at which api */
  async read(turn: number, code: string): Promise<void> {
    const parts = this.#partsOf(code);
    const part = parts[turn % parts.length];
    if (part === undefined) return;
    const answer = await this.#get(turn, part).catch(() => null); // a fault cuts connections
    if (answer !== null && !REFUSALS.includes(answer.status)) this.#judge(part, answer);
  }

  /** After the faults. @param kept what is still there @returns one sentence for each wrong answer, also of those before */
  async findProblems(
    kept: readonly { readonly n: number; readonly code: string }[],
  ): Promise<readonly string[]> {
    const found = kept.filter(({ code }) => this.#numbers.has(code));
    if (found.length === 0) this.#problems.push('no paste with several files was kept');
    for (const { n, code } of found)
      for (const part of this.#partsOf(code)) this.#judge(part, await this.#get(n, part));
    return this.#problems;
  }

  /** Each file and the archive, with the files that the answer must have. */
  #partsOf(code: string): readonly Part[] {
    const n = this.#numbers.get(code);
    const files = n === undefined ? undefined : filesOf(this.#seed, n);
    if (files === undefined) return [];
    const archive = { path: `/${code}/archive`, expected: files, filesIn: storedIn };
    const single = files.map((file): Part => {
      const name = file.name.split('/').map(encodeURIComponent).join('/');
      const filesIn = (content: Buffer) => [{ name: file.name, content }];
      return { path: `/${code}/files/${name}`, expected: [file], filesIn };
    });
    return [archive, ...single];
  }

  async #get(turn: number, { path }: Part): Promise<Answer> {
    const { apis } = this.#cluster;
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await this.#cluster.http(turn % apis.length).request(path, { signal });
    return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
  }

  #judge({ path, expected, filesIn }: Part, { status, body }: Answer): void {
    const found = status === 200 ? filesIn(body) : [];
    const isRight = (file: NamedBytes, index: number): boolean =>
      found[index]?.name === file.name && found[index].content.equals(file.content);
    if (found.length === expected.length && expected.every(isRight)) return;
    this.#problems.push(`${path} answers ${status} with ${body.length} bytes, and not what was created`);
  }
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

interface NamedBytes {
  readonly name: string;
  readonly content: Buffer;
}

interface Part {
  readonly path: string;
  readonly expected: readonly NamedBytes[];
  readonly filesIn: (body: Buffer) => readonly NamedBytes[];
}

/** The files of a zip that compresses none, by its directory. */
function storedIn(zip: Buffer): readonly NamedBytes[] {
  const end = zip.length - END_BYTES;
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    const name = zip.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + zip.readUInt16LE(at + 28));
    const header = zip.readUInt32LE(at + 42);
    const start = header + HEADER_BYTES + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
    const content = zip.subarray(start, start + zip.readUInt32LE(at + 24));
    at += ENTRY_BYTES + name.length + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    return { name: name.toString(), content };
  });
}
