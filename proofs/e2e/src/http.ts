import { setTimeout as sleep } from 'node:timers/promises';

/** The api as plain HTTP, for tests of raw answers. No request is retried, and no answer is an error. */
export class Http {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetch(new URL(path, this.url), { redirect: 'manual', ...init });
  }

  /** POST of the raw bytes. */
  async post(
    content: Uint8Array | string,
    {
      path = '/v1/pastes',
      headers = {},
    }: {
      readonly path?: string;
      readonly headers?: Record<string, string>;
    } = {},
  ): Promise<Response> {
    const body = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    return await this.request(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });
  }

  /** GET of the content, by the short URL. */
  async read(shortCode: string, headers: Record<string, string> = {}): Promise<ReadContent> {
    const response = await this.request(`/${shortCode}`, { headers });
    return {
      status: response.status,
      headers: response.headers,
      body: Buffer.from(await response.arrayBuffer()),
    };
  }
}

export interface ReadContent {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface LoadOptions {
  /** The number of calls side by side. Default: 4. */
  readonly lanes?: number;
  /**
   * The pause of each lane between two calls, in ms. Default: 100. The services share the machine with the
   * load.
   */
  readonly pauseMs?: number;
}

/** Calls `act` repeatedly until it is stopped. `act` must not throw; its result is the outcome. */
export class Load<T> {
  /** The outcomes in the order in which the calls ended. */
  readonly outcomes: T[] = [];
  readonly #lanes: readonly Promise<void>[];
  #stopping = false;

  constructor(act: (n: number) => Promise<T>, { lanes = 4, pauseMs = 100 }: LoadOptions = {}) {
    let n = 0;
    const run = async (): Promise<void> => {
      while (!this.#stopping) {
        this.outcomes.push(await act((n += 1)));
        await sleep(pauseMs);
      }
    };
    this.#lanes = Array.from({ length: lanes }, run);
  }

  /** Waits for the running calls. @returns every outcome */
  async stop(): Promise<readonly T[]> {
    this.#stopping = true;
    await Promise.all(this.#lanes);
    return this.outcomes;
  }
}
