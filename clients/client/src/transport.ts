import createFetchClient, { type Client } from 'openapi-fetch';
import { apiErrorOf, PasteflowConnectionError } from './errors.ts';
import type { ErrorCode } from './api-types.ts';
import { DEFAULT_RETRY, type OnRetry, type RetryPolicy, withRetries } from './retries.ts';
import type { paths } from './schema.ts';

/** A token, or a function that returns the current one; it is called before each request. */
export type TokenSource = string | (() => string | Promise<string>);

/** The signature of the platform's fetch. */
export type Fetch = (request: Request) => Promise<Response>;

export interface ClientOptions {
  /** The URL of the api, for example `https://paste.example.org`. */
  readonly baseUrl: string;
  /** Without a token the client is anonymous. */
  readonly token?: TokenSource | undefined;
  readonly fetch?: Fetch | undefined;
  /** Overrides of DEFAULT_RETRY; false: no retries. */
  readonly retry?: Partial<RetryPolicy> | false | undefined;
  readonly onRetry?: OnRetry | undefined;
}

/** Every route of the API, typed: one request, one response. It sends the token and doesn't retry. */
export type BareApi = Client<paths>;

/** What a call passes to the bare api. */
export interface TryInit {
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
}

interface FetchResult<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** Requests with retries and typed errors. */
export class Transport {
  readonly api: BareApi;
  readonly policy: RetryPolicy;
  readonly #fetch: Fetch;
  readonly #onRetry: OnRetry | undefined;

  constructor({ baseUrl, token, fetch, retry, onRetry }: ClientOptions) {
    this.#onRetry = onRetry;
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
   * @param send makes the request; it is called once for each try
   * @throws PasteflowApiError, PasteflowConnectionError, or the reason of `signal`
   */
  async call<T>(
    send: (api: BareApi, init: TryInit) => Promise<FetchResult<T>>,
    {
      signal,
      streamed = false,
      codeOfBare503,
      isRepeatable = () => true,
      retry,
    }: {
      readonly signal: AbortSignal | undefined;
      /** The body of the response is a stream that is read later, not JSON. */
      readonly streamed?: boolean;
      /**
       * The code of a 503 without a problem document: content whose upload is in progress has an empty body, for
       * `curl --retry`.
       */
      readonly codeOfBare503?: ErrorCode;
      /** Whether the content can be sent again; default: it can. */
      readonly isRepeatable?: () => boolean;
      /** Overrides of the client's policy. */
      readonly retry?: Partial<RetryPolicy> | undefined;
    },
  ): Promise<{ readonly data: T; readonly response: Response }> {
    const fetch: Fetch = async (request) => await this.#receive(request, streamed);
    return await withRetries(
      { policy: { ...this.policy, ...retry }, onRetry: this.#onRetry, signal, isRepeatable },
      async (trySignal) => {
        const { data, error, response } = await send(this.api, { signal: trySignal, fetch }).catch(asTyped);
        if (!response.ok) throw apiErrorOf(response, error, codeOfBare503 ?? null);
        return { data: data as T, response };
      },
    );
  }

  /** Reads the body too, unless the caller wants a stream: so every failure happens here. */
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

/** The message of fetch is only `fetch failed`; Node's reason is in its cause. */
function describe(thrown: unknown): string {
  const { message, cause } = thrown as Partial<Error>;
  const underneath = (cause as Partial<Error> | undefined)?.message;
  return [message ?? String(thrown), underneath].filter(Boolean).join(': ');
}

/** A response that should be JSON and isn't comes from a proxy. */
function asTyped(error: unknown): never {
  // Compared by name: the platform's errors may come from another realm.
  if ((error as Partial<Error>).name !== 'SyntaxError') throw error;
  throw new PasteflowConnectionError('the response is not JSON', { cause: error });
}
