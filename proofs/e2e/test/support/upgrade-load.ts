import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../src/index.ts';

type Ending = 'kept' | 'deleted' | 'revealed';

interface Pasted {
  readonly code: string;
  readonly content: string;
  readonly ending: Ending;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const TRY_AGAIN_AFTER_MS = 100;
const ANSWERED_WITHIN_MS = 60_000;

/**
 * Creates, reads, deletes and reveals pastes, and creates jobs, at both apis of a cluster, while its services
 * are replaced. Only an api that stops may refuse a request.
 */
export class UpgradeLoad {
  readonly #cluster: Cluster;
  readonly #token: string;
  readonly #pasted: Pasted[] = [];
  readonly #jobs: string[] = [];
  /** The contents that exactly one paste has, however often the request was sent. */
  readonly #onceOnly: string[] = [];
  /** One sentence for each answer that was wrong. */
  readonly problems: string[] = [];

  constructor(cluster: Cluster, token: string) {
    this.#cluster = cluster;
    this.#token = token;
  }

  /** Call number n. It begins at one api and goes on at the other. */
  async act(n: number): Promise<void> {
    try {
      await this.#act(n);
    } catch (error) {
      this.problems.push(`call ${n}: ${String(error)}`);
    }
  }

  async #act(n: number): Promise<void> {
    const content = `paste ${n} ${randomUUID()}`;
    if (n % 5 === 0) return await this.#importOne(n, content);
    if (n % 5 === 1) return await this.#createWithoutKey(n, content);
    const ending = n % 5 === 2 ? 'revealed' : n % 5 === 3 ? 'deleted' : 'kept';
    const code = await this.create(n, content, ending);
    if (ending === 'revealed') await this.#reveal(n, code, content);
    else if (ending === 'deleted') await this.#delete(n, code);
    else await this.#read(n, code, content);
  }

  /** Creates a paste, and repeats the request at the other api. @returns the short code */
  async create(api: number, content: string, ending: Ending = 'kept'): Promise<string> {
    const path = `/v1/pastes?burn=${ending === 'revealed'}`;
    const headers = { 'content-type': 'application/octet-stream', 'idempotency-key': content };
    const init = { method: 'POST', body: Buffer.from(content), headers };
    const first = await this.#ask(api, path, init, 201);
    const second = await this.#ask(api + 1, path, init, 201);
    if (second.text !== first.text) throw new Error(`${first.text}, and repeated: ${second.text}`);
    const { short_code: code } = JSON.parse(first.text) as { short_code: string };
    this.#onceOnly.push(content);
    this.#pasted.push({ code, content, ending });
    return code;
  }

  /** Not repeated: when the answer is lost, there may be a paste or none. */
  async #createWithoutKey(n: number, content: string): Promise<void> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const answer = await this.#cluster
      .http(n % 2)
      .post(content, { headers })
      .then(toAnswer, () => null);
    if (answer === null || answer.status === 503) return;
    if (answer.status !== 201) this.problems.push(`paste ${n}: ${answer.status} ${answer.text}`);
    else
      this.#pasted.push({
        code: (JSON.parse(answer.text) as { short_code: string }).short_code,
        content,
        ending: 'kept',
      });
  }

  async #read(n: number, code: string, content: string): Promise<void> {
    const { text } = await this.#ask(n + 1, `/${code}`, {}, 200);
    if (text !== content) this.problems.push(`paste ${n}, ${code}, has the content ${text}`);
  }

  /** The reader repeats the request: the answer is the same. */
  async #reveal(n: number, code: string, content: string): Promise<void> {
    for (const api of [n, n + 1]) {
      const init = { method: 'POST', headers: { 'idempotency-key': `reader ${n} ${content}` } };
      const { text } = await this.#ask(api, `/v1/pastes/${code}/reveal`, init, 200);
      if (text !== content) this.problems.push(`paste ${n}, ${code}, reveals the content ${text}`);
    }
  }

  /** 410: a repetition, after the answer was lost. */
  async #delete(n: number, code: string): Promise<void> {
    await this.#ask(n + 1, `/v1/pastes/${code}`, { method: 'DELETE' }, 204, 410);
  }

  async #importOne(n: number, content: string): Promise<void> {
    const body = JSON.stringify({ job_type: 'import', parameters: { items: [{ content }] } });
    const headers = { 'content-type': 'application/json', 'idempotency-key': `job-${n}` };
    const { text } = await this.#ask(n, '/v1/jobs', { method: 'POST', body, headers }, 202);
    this.#jobs.push((JSON.parse(text) as { job_id: string }).job_id);
    this.#onceOnly.push(content);
  }

  /**
   * Repeats a request until it is answered. An api that stops refuses connections, or answers 503; when one was
   * killed, the other answers 409 until the claim of the Idempotency-Key ends.
   */
  async #ask(api: number, path: string, init: RequestInit, ...expected: number[]): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.#token}`, ...(init.headers as Record<string, string>) };
    const deadline = performance.now() + ANSWERED_WITHIN_MS;
    for (let tries = 0; ; tries += 1) {
      const http = this.#cluster.http((api + tries) % 2);
      const answer = await http
        .request(path, { ...init, headers })
        .then(toAnswer)
        .catch(() => null);
      if (answer !== null && expected.includes(answer.status)) return answer;
      if ((answer !== null && ![409, 503].includes(answer.status)) || performance.now() > deadline)
        throw new Error(`${init.method ?? 'GET'} ${path}: ${answer?.status} ${answer?.text}`);
      await sleep(TRY_AGAIN_AFTER_MS);
    }
  }

  /** Compares the services with what they have answered. @returns one sentence for each broken promise */
  async findBrokenPromises(): Promise<string[]> {
    const problems = [...this.problems];
    for (const { code, content, ending } of this.#pasted) {
      const { status, body } = await this.#cluster.http().read(code);
      if (ending !== 'kept' ? status !== 410 : status !== 200 || !body.equals(Buffer.from(content)))
        problems.push(`paste ${code} answers ${status} with "${body.toString()}"`);
    }
    const { rows } = this.#cluster;
    for (const { id, status } of await rows.query<{ id: string; status: string }>(
      `SELECT id, status FROM jobs WHERE id = ANY ($1::uuid[]) AND status <> 'completed'`,
      [this.#jobs],
    ))
      problems.push(`job ${id} is ${status}`);
    const hashes = this.#onceOnly.map(
      (content) => `sha256:${createHash('sha256').update(content).digest('hex')}`,
    );
    for (const { hash, count } of await rows.query<{ hash: string; count: number }>(
      `SELECT hash, count(p.id)::int AS count FROM unnest($1::text[]) AS hash LEFT JOIN pastes p ON p.content_hash = hash
       GROUP BY hash HAVING count(p.id) <> 1`,
      [hashes],
    ))
      problems.push(`${count} pastes have the hash ${hash}`);
    return problems;
  }

  get counts(): { readonly pastes: number; readonly jobs: number } {
    return { pastes: this.#pasted.length, jobs: this.#jobs.length };
  }
}

async function toAnswer(response: Response): Promise<Answer> {
  return { status: response.status, text: await response.text() };
}
