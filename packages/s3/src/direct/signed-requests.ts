import type { S3Client } from '@aws-sdk/client-s3';
import { SignatureV4 } from '@smithy/signature-v4';
import { Pool, type Dispatcher } from 'undici';
import { CONNECT_TIMEOUT_MS, MAX_SOCKETS } from '../client.ts';
import {
  answerError,
  isSkewed,
  networkError,
  setClock,
  timeoutError,
  withRetries,
  type ErrorAnswer,
} from './failures.ts';

export interface UnsignedRequest {
  readonly method: 'GET' | 'PUT';
  readonly url: URL;
  /** Encoded, as it is sent. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** With `host` and `x-amz-content-sha256`. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs requests by AWS Signature Version 4. The credentials are those of the SDK's client, which refreshes
 * them.
 */
export class RequestSigner {
  readonly #config: S3Client['config'];
  readonly #signature: SignatureV4;

  constructor(config: S3Client['config'], region: string) {
    this.#config = config;
    this.#signature = new SignatureV4({
      service: 's3',
      region,
      credentials: config.credentials,
      sha256: config.sha256,
      uriEscapePath: false, // S3 signs paths as they are sent
      applyChecksum: false, // the header is there already
    });
  }

  /** @returns all headers of the request */
  async sign({ method, url, path, query = {}, headers }: UnsignedRequest, now = Date.now()) {
    const signed = await this.#signature.sign(
      { method, protocol: url.protocol, hostname: url.hostname, path, query, headers: { ...headers } },
      { signingDate: new Date(now + this.#config.systemClockOffset) },
    );
    return signed.headers;
  }
}

export interface SignedRequest extends Pick<UnsignedRequest, 'method' | 'path' | 'headers'> {
  /** The digest of the body, in hex. */
  readonly sha256: string;
  readonly body: Buffer | null;
  readonly signal?: AbortSignal | undefined;
}

/** Requests without the SDK's middleware, which takes four fifths of the CPU time of a request. */
export class SignedRequests {
  readonly #client: S3Client;
  readonly #url: URL;
  readonly #timeoutMs: number;
  readonly #signer: RequestSigner;
  readonly #pool: Pool;

  /**
   * @param client credentials, attempts and the correction of the clock are those of this client
   * @param url where requests are sent
   * @param requestTimeoutMs until the answer begins, the waits for credentials and for a connection included
   */
  constructor(
    client: S3Client,
    {
      url,
      region,
      maxSockets = MAX_SOCKETS,
      requestTimeoutMs,
    }: { url: URL; region: string; maxSockets: number | undefined; requestTimeoutMs: number },
  ) {
    this.#client = client;
    this.#url = url;
    this.#timeoutMs = requestTimeoutMs;
    this.#signer = new RequestSigner(client.config, region);
    this.#pool = new Pool(url.origin, {
      connections: maxSockets,
      connectTimeout: CONNECT_TIMEOUT_MS,
      headersTimeout: 0, // this class has a timer of its own: undici's doesn't run while a request waits for a connection
      bodyTimeout: 0, // bodies are read as slowly as their readers like
    });
  }

  /**
   * Sends a request, and resolves when its answer has begun. The caller must consume or destroy the body.
   * @throws the error of an answer of 300 or more, AbortError, or the error of the network
   */
  async send(request: SignedRequest): Promise<Dispatcher.ResponseData> {
    return await this.#withRetries(request, async () => {
      const answer = await this.#answerTo(request);
      const { statusCode, headers, body } = answer;
      if (statusCode >= 300) throw this.#errorOf({ statusCode, headers, text: await body.text() });
      return answer;
    });
  }

  close(): void {
    void this.#pool.destroy();
  }

  async #withRetries<T>({ signal }: SignedRequest, send: () => Promise<T>): Promise<T> {
    const sendOnce = async (): Promise<T> => {
      try {
        return await this.#sendInTime(send);
      } catch (error) {
        throw networkError(error);
      }
    };
    return await withRetries(this.#client, sendOnce, signal);
  }

  /** Sends once more, which is no attempt, when the first answer has shown that the clock was wrong. */
  async #sendInTime<T>(send: () => Promise<T>): Promise<T> {
    const { config } = this.#client;
    const { systemClockOffset } = config;
    try {
      return await send();
    } catch (error) {
      if (!isSkewed(config, systemClockOffset)) throw error;
    }
    return await send();
  }

  async #answerTo(request: SignedRequest): Promise<Dispatcher.ResponseData> {
    const { signal } = request;
    const controller = new AbortController();
    const abort = (): void =>
      controller.abort(new DOMException('The request to S3 was aborted.', 'AbortError'));
    const timer = setTimeout(() => controller.abort(timeoutError(this.#timeoutMs)), this.#timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    try {
      // Credentials may take long, and undici ignores the signal of a request that waits for a connection
      // until it has one, and then doesn't send it.
      const answer = await Promise.race([
        this.#signAndSend(request, controller.signal),
        aborted(controller.signal),
      ]);
      // A reader may destroy the body before it listens for errors.
      answer.body.on('error', () => {}).once('close', () => signal?.removeEventListener('abort', abort));
      return answer;
    } catch (error) {
      signal?.removeEventListener('abort', abort);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #signAndSend(request: SignedRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    return await this.#pool.request({ ...(await this.#signed(request)), body: request.body, signal });
  }

  async #signed({
    method,
    path,
    headers,
    sha256,
  }: SignedRequest): Promise<Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'headers'>> {
    const url = this.#url;
    const unsigned = { host: url.host, ...headers, 'x-amz-content-sha256': sha256 };
    return { method, path, headers: await this.#signer.sign({ method, url, path, headers: unsigned }) };
  }

  #errorOf(answer: ErrorAnswer): Error {
    setClock(this.#client.config, answer);
    return answerError(answer);
  }
}

/** Rejects with the reason when the signal aborts. */
async function aborted(signal: AbortSignal): Promise<never> {
  const abort = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => abort.reject(signal.reason as Error), { once: true });
  signal.throwIfAborted();
  return await abort.promise;
}
