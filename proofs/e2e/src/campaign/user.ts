import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PasteflowApiError, type PasteflowClient } from '@pasteflow/client';
import { runOps, type Cluster } from '../cluster.ts';
import type { ReadContent } from '../http.ts';
import { FileReads } from './file-reads.ts';
import type { History } from './history.ts';
import { contentOf, filesOf, itemsOf, keyOf, titleOf } from './plan.ts';

/**
 * What one request for a paste that is deleted when it is read has shown.
 * - `content`: the whole content
 * - `gone`: 410, for everybody but the one reader
 * - `again`: the answer broke off, or says that the reader may try again. The paste may be claimed for this
 * reader
 * - `wrong`: what must never happen
 */
export type Reveal =
  | { readonly kind: 'content' | 'gone' | 'again' }
  | { readonly kind: 'wrong'; readonly answer: string };

const TRY_AGAIN_AFTER_MS = 200;
const LOOK_AGAIN_AFTER_MS = 300;
/** A frozen process answers after 12 s. */
const ANSWER_WITHIN_MS = 120_000;

/**
 * Performs every operation of a campaign on pastes and jobs, and learns its outcome. A request without an
 * answer may have been executed: it is repeated until an answer comes, which its Idempotency-Key makes one
 * operation. The number of a paste says at which api the operation begins.
 */
export class User {
  /** Reads of single files and archives, which are in no history. */
  readonly fileReads: FileReads;
  readonly #cluster: Cluster;
  readonly #clients: readonly PasteflowClient[];
  readonly #token: string;
  readonly #seed: number;
  readonly #history: History;

  constructor(cluster: Cluster, history: History, { token, seed }: { token: string; seed: number }) {
    this.#cluster = cluster;
    this.#history = history;
    this.#clients = cluster.apis.map((_, api) => cluster.client({ api, token, fetch: history.fetch }));
    this.#token = token;
    this.#seed = seed;
    this.fileReads = new FileReads(cluster, seed);
  }

  /**
   * @param times how many clients send the request at the same time, beginning at different apis
   * @returns the short code
   */
  async create(
    n: number,
    {
      times = 1,
      ...options
    }: {
      readonly burn?: boolean;
      /** Seconds. */
      readonly expires_in?: number;
    } & { readonly wait?: boolean; readonly times?: number } = {},
  ): Promise<string> {
    const create = async (_: unknown, first: number): Promise<string> => {
      const { short_code: code } = await this.#untilAnswered(n + first, (client) =>
        client.pastes.create(filesOf(this.#seed, n) ?? contentOf(this.#seed, n), {
          ...options,
          title: titleOf(this.#seed, n),
          idempotencyKey: keyOf(this.#seed, n),
        }),
      );
      return code;
    };
    const [code = ''] = await Promise.all(Array.from({ length: times }, create));
    this.fileReads.created(n, code);
    return code;
  }

  /** One request without an Idempotency-Key. @returns the short code; undefined without an answer */
  async createOnce(n: number): Promise<string | undefined> {
    const answer = await this.#request(n, '/v1/pastes', {
      method: 'POST',
      body: new Uint8Array(contentOf(this.#seed, n)),
      headers: { 'content-type': 'application/octet-stream', authorization: `Bearer ${this.#token}` },
    }).catch(() => undefined);
    if (answer?.status !== 201) return undefined;
    return ((await answer.json()) as { readonly short_code: string }).short_code;
  }

  /** Waits until the paste is stored. @returns the short code; undefined when another paste has the slug */
  async createNamed(n: number, slug: string): Promise<string | undefined> {
    const created = await this.#untilAnswered(n, (client) =>
      client.pastes
        .create(contentOf(this.#seed, n), { slug, idempotencyKey: keyOf(this.#seed, n), wait: true })
        .catch(unlessCode('slug_taken')),
    );
    return created?.short_code;
  }

  /** Waits until the paste is stored. @param parent the short code of the paste that it is made from */
  async createVersion(n: number, parent: string): Promise<string> {
    const { short_code: code } = await this.#untilAnswered(n, (client) =>
      client.pastes.create(filesOf(this.#seed, n) ?? contentOf(this.#seed, n), {
        parent,
        idempotencyKey: keyOf(this.#seed, n),
        wait: true,
      }),
    );
    return code;
  }

  /** @returns the short code; undefined when another paste is the newer version of `older` */
  async supersede(n: number, older: string): Promise<string | undefined> {
    const created = await this.#untilAnswered(n, (client) =>
      client.pastes
        .create(filesOf(this.#seed, n) ?? contentOf(this.#seed, n), {
          supersedes: older,
          title: titleOf(this.#seed, n), // otherwise it has that of the older paste
          idempotencyKey: keyOf(this.#seed, n),
        })
        .catch(unlessCode('superseded')),
    );
    return created?.short_code;
  }

  /** @returns false when the slug names another paste than `from` */
  async moveSlug(n: number, slug: string, from: string, to: string): Promise<boolean> {
    const moved = await this.#untilAnswered(n, (client) =>
      client.slugs.move(slug, { from, short_code: to }).catch(unlessCode('slug_moved')),
    );
    return moved !== undefined;
  }

  /** Gives a paste another title. One that has ended is not changed. */
  async change(n: number, code: string, title: string): Promise<void> {
    await this.#untilAnswered(n, (client) =>
      client.pastes
        .change(code, { title })
        .catch(unlessCode('paste_gone', 'paste_taken_down', 'paste_not_found')),
    );
  }

  async delete(n: number, code: string): Promise<void> {
    await this.#untilAnswered(n, (client) =>
      // A deletion whose answer was lost has succeeded: the repetition finds no paste. One that the api has lost
      // is found at the end of the campaign.
      client.pastes.delete(code).catch(unlessCode('paste_gone', 'paste_not_found')),
    );
  }

  /** As the operator. */
  async takeDown(n: number, code: string): Promise<void> {
    await this.#untilAnswered(n, () =>
      this.#history.record({ op: 'takedown', code }, async () => {
        await runOps(this.#cluster, 'takedown', code, '--reason', 'campaign').catch((error: unknown) => {
          if (!String(error).includes(`there is no paste ${code}`)) throw error; // found at the end
        });
      }),
    );
  }

  /** Two clients create the job at the same time, with one key. @returns the id of the job */
  async createImport(n: number): Promise<string> {
    const create = async (first: number): Promise<string> => {
      const { job_id: id } = await this.#untilAnswered(n + first, (client) =>
        client.jobs.create(
          { job_type: 'import', parameters: { items: itemsOf(this.#seed, n) } },
          { idempotencyKey: `campaign-job-${this.#seed}-${n}` },
        ),
      );
      return id;
    };
    const [id] = await Promise.all([create(0), create(1)]);
    return id;
  }

  /** Looks at the job until it has ended. */
  async watch(n: number, id: string): Promise<void> {
    for (let looks = 0; ; looks += 1) {
      const { completed_at: end } = await this.#untilAnswered(n + looks, (client) => client.jobs.get(id));
      if (end !== null) return;
      await sleep(LOOK_AGAIN_AFTER_MS);
    }
  }

  /** @returns false when the job had ended by itself */
  async cancel(n: number, id: string): Promise<boolean> {
    const job = await this.#untilAnswered(n, (client) =>
      client.jobs.cancel(id).catch(unlessCode('job_ended')),
    );
    return job !== undefined;
  }

  /** One request for the content, by the short URL. @param name the short code, or `~` and the slug */
  async read(n: number, name: string, headers: Record<string, string> = {}): Promise<ReadContent> {
    const answer = await this.#request(n, `/${name}`, { headers });
    return {
      status: answer.status,
      headers: answer.headers,
      body: Buffer.from(await answer.arrayBuffer()),
    };
  }

  /** One request without a check of its answer: the history has it. Each turn reads in another form. */
  async readInTurn(n: number, turn: number, name: string): Promise<void> {
    const etag = createHash('sha256').update(contentOf(this.#seed, n)).digest('hex');
    const content = `/v1/pastes/${name}/content`;
    const [path, headers] = [
      [`/${name}`, {}],
      [content, { 'if-none-match': `"${etag}"` }],
      [content, { 'accept-encoding': 'identity' }],
      [`/v1/pastes/${name}`, {}],
    ][turn % 4] as [string, Record<string, string>];
    await this.#request(n + turn + (turn >> 2), path, { headers }).catch(() => {});
    if (turn % 4 === 0) await this.fileReads.read(n + turn, name);
  }

  /**
   * Repeats a reader's request for a paste that is deleted when it is read until the reader or another one has
   * the content, or `givesUp` after that many answers. @returns the meaning of each answer, the last one last
   */
  async reveal(
    n: number,
    code: string,
    reader: number,
    givesUp: (tries: number) => boolean = () => false,
  ): Promise<readonly Reveal[]> {
    const reveals: Reveal[] = [];
    for (;;) {
      const reveal = await this.#revealOnce(n + reader + reveals.length, { n, code, reader });
      reveals.push(reveal);
      if (reveal.kind !== 'again' || givesUp(reveals.length)) return reveals;
      await sleep(TRY_AGAIN_AFTER_MS);
    }
  }

  async #revealOnce(
    api: number,
    { n, code, reader }: { n: number; code: string; reader: number },
  ): Promise<Reveal> {
    try {
      const answer = await this.#request(api, `/v1/pastes/${code}/reveal`, {
        method: 'POST',
        headers: { 'idempotency-key': `reader ${reader} of paste ${n}` },
      });
      const body = Buffer.from(await answer.arrayBuffer());
      if (answer.status === 200 && body.equals(contentOf(this.#seed, n))) return { kind: 'content' };
      if (answer.status === 410) return { kind: 'gone' };
      if ([429, 503].includes(answer.status)) return { kind: 'again' };
      return { kind: 'wrong', answer: `${answer.status} with ${body.length} bytes` };
    } catch {
      return { kind: 'again' };
    }
  }

  async #request(api: number, path: string, init: RequestInit): Promise<Response> {
    const url = new URL(path, this.#cluster.http(api % this.#clients.length).url);
    const bounded = { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_WITHIN_MS), ...init } as const;
    return await this.#history.fetch(new Request(url, bounded));
  }

  async #untilAnswered<T>(n: number, call: (client: PasteflowClient) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await call(this.#clients[(n + tries) % this.#clients.length] as PasteflowClient);
      } catch {
        await sleep(TRY_AGAIN_AFTER_MS);
      }
    }
  }
}

function unlessCode(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof PasteflowApiError) || !codes.includes(error.code ?? '')) throw error;
  };
}
