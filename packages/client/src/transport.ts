import createFetchClient, { type Client } from 'openapi-fetch';
import { apiErrorOf } from './api-error.ts';
import type { ErrorCode } from './api-types.ts';
import { PasteflowConnectionError } from './errors.ts';
import { DEFAULT_RETRY, type RetryPolicy } from './retry-policy.ts';
import type { paths } from './schema.ts';
import { withRetries } from './with-retries.ts';

/** A token, or what gets the present one: it is asked before each request. */
export type TokenSource = string | (() => string | Promise<string>);

/** As the platform's. */
export type Fetch = (request: Request) => Promise<Response>;

export interface ClientOptions {
  /** Of the api, e.g. `https://paste.example.org`. */
  readonly baseUrl: string;
  /** Without one the client is anonymous. */
  readonly token?: TokenSource | undefined;
  readonly fetch?: Fetch | undefined;
  /** Changes to the defaults; false: nothing is tried again. */
  readonly retry?: Partial<RetryPolicy> | false | undefined;
}

/** Every route of the API, typed: one request, one answer. It sends the token, and tries nothing again. */
export type BareApi = Client<paths>;

/** What a call hands on to the bare api. */
export interface TryInit {
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

export interface CallOptions {
  readonly signal: AbortSignal | undefined;
  /** The answer's body is a stream to be read later, and not JSON. */
  readonly streamed?: boolean;
  /** Of the one answer without a problem document, for the sake of `curl --retry`: content whose upload is under way. */
  readonly codeOfBare503?: ErrorCode;
  /** Unless told, what is sent can be sent again. */
  readonly isRepeatable?: () => boolean;
}

/** Requests with retries, and errors that have types. */
export class Transport {
  readonly api: BareApi;
  readonly policy: RetryPolicy;
  readonly #fetch: Fetch;

  constructor({ baseUrl, token, fetch, retry }: ClientOptions) {
    this.#fetch = fetch ?? ((request) => globalThis.fetch(request));
    this.policy = { ...DEFAULT_RETRY, ...(retry === false ? { maxTries: 1 } : retry) };
    this.api = createFetchClient<paths>({ baseUrl, fetch: this.#fetch });
    if (token !== undefined) {
      this.api.use({
        onRequest: async ({ request }) => {
          request.headers.set('Authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
        },
      });
    }
  }

  /**
   * @param send makes the request; it is called once a try
   * @throws PasteflowApiError, PasteflowConnectionError, or the reason of `signal`
   */
  async call<T>(
    send: (init: TryInit) => Promise<Answer<T>>,
    { signal, streamed = false, codeOfBare503, isRepeatable = () => true }: CallOptions,
  ): Promise<{ readonly data: T; readonly response: Response }> {
    const fetch: Fetch = async (request) => await this.#receive(request, streamed);
    return await withRetries({ policy: this.policy, signal, isRepeatable }, async (trySignal) => {
      const { data, error, response } = await send({ signal: trySignal, fetch }).catch(asTyped);
      if (!response.ok) throw apiErrorOf(response, error, codeOfBare503 ?? null);
      return { data: data as T, response };
    });
  }

  /** With its body read, unless that is wanted as a stream: whatever goes wrong with an answer goes wrong in here. */
  async #receive(request: Request, streamed: boolean): Promise<Response> {
    try {
      const response = await this.#fetch(request);
      const { body, status, headers, ok } = response;
      if (body === null || (streamed && ok)) return response;
      return new Response(await response.arrayBuffer(), { status, headers });
    } catch (cause) {
      throw connectionError(request, cause);
    }
  }
}

function connectionError({ method, url }: Request, cause: unknown): Error {
  if (cause instanceof PasteflowConnectionError) return cause; // the try's own timeout
  return new PasteflowConnectionError(`${method} ${url}: ${describe(cause)}`, { cause });
}

/** `fetch failed` says little; what Node has to say of it is underneath. */
function describe(thrown: unknown): string {
  const { message, cause } = thrown as Partial<Error>;
  const underneath = (cause as Partial<Error> | undefined)?.message;
  return [message ?? String(thrown), underneath].filter(Boolean).join(': ');
}

/** An answer that should be JSON and isn't comes from somebody on the way. */
function asTyped(error: unknown): never {
  // By its name: the platform's own errors may come from another realm.
  if ((error as Partial<Error>).name !== 'SyntaxError') throw error;
  throw new PasteflowConnectionError('the answer is no JSON', { cause: error });
}
