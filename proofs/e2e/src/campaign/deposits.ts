import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import type { History } from './history.ts';
import { depositKeyOf, depositOf, Random } from './plan.ts';

interface Ask {
  readonly id: string;
  readonly places: number;
  /** The numbers of the deposits that were accepted, by their receipts. */
  readonly accepted: Map<string, number>;
  /** The numbers of the deposits without an Idempotency-Key that have no answer. */
  readonly unknown: number[];
}

interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

interface Listed {
  readonly short_code: string;
  readonly wrapped_key: string;
}

/** Beyond the numbers of all pastes, with room for the depositors of a request. */
const FIRST_OF_DEPOSITS = 700_000_000;
const NUMBERS_OF_REQUEST = 100;
const MORE_THAN_PLACES = 4;
/** Within which the depositors of a request begin, and who asks may cancel it. */
const WITHIN_MS = 400;
const EXPIRES_IN_SECONDS = 60;
const TRY_AGAIN_AFTER_MS = 200;
/** A frozen process answers after 12 s. */
const ANSWER_WITHIN_MS = 120_000;
const REFUSALS = ['request_used_up', 'request_closed'];

/** Requests for secrets with fewer places than depositors, whose outcomes the checker and `findProblems` judge. */
export class Deposits {
  /** Numbers of deposits with an Idempotency-Key. */
  readonly keyed: number[] = [];
  readonly #cluster: Cluster;
  readonly #history: History;
  readonly #token: string;
  readonly #seed: number;
  readonly #asks: Ask[] = [];
  readonly #problems: string[] = [];
  #refused = 0;

  constructor(cluster: Cluster, history: History, { token, seed }: { token: string; seed: number }) {
    this.#cluster = cluster;
    this.#history = history;
    this.#token = token;
    this.#seed = seed;
  }

  /** A sentence for the report. */
  get summary(): string {
    const accepted = this.#asks.reduce((sum, { accepted: { size } }) => sum + size, 0);
    return `${this.#asks.length} requests for secrets have accepted ${accepted} deposits, and refused ${this.#refused}`;
  }

  /**
   * More depositors than a request has places, at once and at both apis. Of four requests, one is cancelled meanwhile,
   * and the first of them expire.
   */
  async compete(n: number, { expires = false } = {}): Promise<void> {
    const ask = await this.ask(n, expires ? { expires_in: EXPIRES_IN_SECONDS } : {});
    const random = new Random(this.#seed + n);
    const isCancelled = random.next() < 0.25;
    await Promise.all([
      this.depositMany(n, ask),
      isCancelled && sleep(random.between(0, WITHIN_MS)).then(() => this.#cancel(n, ask)),
      sleep(random.between(0, WITHIN_MS)).then(() => this.#list(n, ask)),
    ]);
    if (expires) await this.#depositAsItExpires(n, ask);
    // All that is open counts towards a limit of its user.
    await this.#cancel(n, ask);
    await this.#deposit(FIRST_OF_DEPOSITS + n * NUMBERS_OF_REQUEST + NUMBERS_OF_REQUEST - 1, ask);
    await this.#look(n + 1, ask);
  }

  async ask(n: number, options: { readonly expires_in?: number } = {}): Promise<Ask> {
    const places = new Random(this.#seed - n).between(1, 20);
    const { status, json } = await this.#untilAnswered(n, '/v1/requests', {
      method: 'POST',
      body: JSON.stringify({ deposits: places, ...options }),
      headers: { ...this.#own, 'idempotency-key': `campaign-request-${this.#seed}-${n}` },
    });
    if (status !== 201) throw new Error(`a request for secrets was answered ${status} ${String(json.code)}`);
    const ask = { id: String(json.id), places, accepted: new Map(), unknown: [] };
    this.#asks.push(ask);
    return ask;
  }

  async depositMany(n: number, ask: Ask, count = ask.places + MORE_THAN_PLACES): Promise<void> {
    const random = new Random(this.#seed + 2 * n);
    const first = FIRST_OF_DEPOSITS + n * NUMBERS_OF_REQUEST;
    const depositors = Array.from({ length: count }, async (_, nth) => {
      await sleep(random.between(0, WITHIN_MS));
      await this.#deposit(first + nth, ask);
    });
    await Promise.all(depositors);
  }

  /**
   * After the faults: reads what was asked for by the door of who asks. The server opens nothing, so that a deposit and
   * its wrapped key that come back byte for byte open as they did before.
   * @returns one sentence for each broken promise
   */
  async findProblems(): Promise<readonly string[]> {
    if (this.#asks.length === 0) this.#problems.push('nobody has asked for secrets');
    for (const [n, ask] of this.#asks.entries()) {
      await this.#look(n, ask);
      this.#problems.push(...(await this.#findProblemsOf(n, ask)));
    }
    const wrong = await this.#cluster.rows.query<{ problem: string }>(
      `SELECT format('request %s has taken %s places for %s deposits', code, taken, count(number)) AS problem
       FROM secret_requests LEFT JOIN deposits ON request_id = id GROUP BY code, taken HAVING taken <> count(number)`,
    );
    return [...this.#problems, ...wrong.map(({ problem }) => problem)];
  }

  async #findProblemsOf(n: number, ask: Ask): Promise<string[]> {
    const { json } = await this.#list(n, ask);
    const listed = json.deposits as readonly Listed[];
    const codes = listed.map(({ short_code: code }) => code);
    const told = (what: string): string => `request ${ask.id} ${what}`;
    const problems: string[] = [];
    if (listed.length > ask.places)
      problems.push(told(`has ${listed.length} deposits, and ${ask.places} places`));
    for (const code of ask.accepted.keys())
      if (!codes.includes(code)) problems.push(told(`has lost the deposit ${code}, which was answered 201`));
    for (const each of listed) {
      const opened = await this.#open(ask, each);
      const made = ask.accepted.get(each.short_code);
      const candidates = made === undefined ? ask.unknown : [made];
      if (!candidates.some((number) => this.#isSame(number, opened)))
        problems.push(told(`has the deposit ${each.short_code}, which is not what somebody has deposited`));
    }
    return problems;
  }

  #isSame(number: number, opened: { readonly content: string; readonly wrapped_key: string }): boolean {
    const { content, wrapped_key: key } = depositOf(this.#seed, number);
    return opened.content === content && opened.wrapped_key === key;
  }

  async #open(ask: Ask, { short_code: code, wrapped_key }: Listed) {
    const end = this.#history.begin({ op: 'open', request: ask.id, code });
    const path = `/v1/pastes/${code}/content`;
    const answer = await this.#cluster.http().request(path, { headers: this.#own });
    const opened = { content: await answer.text(), wrapped_key };
    end({ event: 'ok', status: answer.status, hash: this.#history.hashOfDeposit(opened) });
    return opened;
  }

  /** One deposit: with a key in four of five cases, and then by two clients in one of three. */
  async #deposit(number: number, ask: Ask): Promise<void> {
    const init = {
      method: 'POST',
      body: JSON.stringify(depositOf(this.#seed, number)),
      headers: { 'content-type': 'application/json' },
    };
    const path = `/v1/requests/${ask.id}/deposits`;
    if (number % 5 === 2) {
      const answer = await this.#request(number, path, init).catch(() => null);
      if (answer === null || answer.status >= 500) ask.unknown.push(number);
      else this.#keep(number, ask, answer);
      return;
    }
    this.keyed.push(number);
    const headers = { ...init.headers, 'idempotency-key': depositKeyOf(this.#seed, number) };
    const deposit = async (_: unknown, client: number): Promise<void> =>
      this.#keep(number, ask, await this.#untilAnswered(number + client, path, { ...init, headers }));
    await Promise.all(Array.from({ length: number % 3 === 0 ? 2 : 1 }, deposit));
  }

  #keep(number: number, ask: Ask, { status, json }: Answer): void {
    if (status === 201) ask.accepted.set(String(json.receipt), number);
    else if (REFUSALS.includes(String(json.code))) this.#refused += 1;
    else if (status !== 429)
      this.#problems.push(`deposit ${number} was answered ${status} ${String(json.code)}`);
  }

  async #depositAsItExpires(n: number, ask: Ask): Promise<void> {
    await sleep((EXPIRES_IN_SECONDS - 3) * 1000);
    const first = FIRST_OF_DEPOSITS + n * NUMBERS_OF_REQUEST + NUMBERS_OF_REQUEST / 2;
    for (const nth of [0, 1, 2, 3, 4]) {
      await this.#deposit(first + nth, ask);
      await sleep(1000);
    }
  }

  async #cancel(n: number, { id }: Ask): Promise<void> {
    await this.#untilAnswered(n, `/v1/requests/${id}/cancel`, { method: 'POST', headers: this.#own });
  }

  async #list(n: number, { id }: Ask): Promise<Answer> {
    return await this.#untilAnswered(n, `/v1/requests/${id}/deposits`, { headers: this.#own });
  }

  /** Reads the places that are left and the list of deposits, for the history, when nobody deposits. */
  async #look(n: number, ask: Ask): Promise<void> {
    await this.#untilAnswered(n, `/v1/requests/${ask.id}`, { headers: this.#own });
    await this.#list(n, ask);
  }

  get #own(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
  }

  /** A request without an answer may have been executed: it is repeated, at the other api. */
  async #untilAnswered(first: number, path: string, init: RequestInit): Promise<Answer> {
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#request(first + tries, path, init).catch(() => null);
      const isAnswer = answer !== null && answer.status < 500 && answer.status !== 429;
      if (isAnswer && answer.json.code !== 'idempotency_key_in_use') return answer;
      await sleep(TRY_AGAIN_AFTER_MS);
    }
  }

  async #request(api: number, path: string, init: RequestInit): Promise<Answer> {
    const url = new URL(path, this.#cluster.http(api % this.#cluster.apis.length).url);
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await this.#history.fetch(new Request(url, { signal, ...init }));
    return { status: answer.status, json: (await answer.json()) as Answer['json'] };
  }
}
