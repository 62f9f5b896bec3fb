import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { Pool, type Dispatcher } from 'undici';
import { CollectedAnswer, type Answer } from './collected-answer.ts';
import {
  isSkewed,
  networkError,
  setClock,
  timeoutError,
  withRetries,
  type AwsClient,
  type ErrorAnswer,
} from './failures.ts';

interface SignedRequest extends Pick<UnsignedRequest, 'method' | 'path' | 'headers'> {
  /** The digest of the body, in hex. */
  readonly sha256: string;
  readonly body: Buffer | string | null;
  readonly signal?: AbortSignal | undefined;
}

interface SignedRequestsOptions {
  /** Credentials, attempts and the correction of the clock are those of this client. */
  readonly client: AwsClient;
  readonly service: 's3' | 'sqs';
  /** Where requests are sent. */
  readonly url: URL;
  readonly region: string;
  readonly maxSockets: number;
  readonly connectTimeoutMs: number;
  /** Until the answer begins, the waits for credentials and for a connection included. */
  readonly requestTimeoutMs: number;
  /** Between two pieces of the body of an answer. 0: as long as its reader likes. */
  readonly bodyTimeoutMs: number;
  /** The error that the SDK makes of an answer. */
  readonly errorOf: (answer: ErrorAnswer) => Error;
}

/** Requests without the SDK's middleware, which takes most of the CPU time of a request. */
export class SignedRequests {
  readonly #options: SignedRequestsOptions;
  /** For error messages. */
  readonly #name: string;
  readonly #signer: RequestSigner;
  readonly #pool: Pool;

  constructor(options: SignedRequestsOptions) {
    const { client, service, url, region, maxSockets, connectTimeoutMs, bodyTimeoutMs } = options;
    this.#options = options;
    this.#name = service.toUpperCase();
    this.#signer = new RequestSigner(client.config, { service, region });
    this.#pool = new Pool(url.origin, {
      connections: maxSockets,
      connectTimeout: connectTimeoutMs,
      headersTimeout: 0, // this class has a timer of its own: undici's doesn't run while a request waits for a connection
      bodyTimeout: bodyTimeoutMs,
      allowH2: false, // as the SDK: CODES knows the errors of HTTP/1.1
    });
  }

  /**
   * Sends a request whose answer is small.
   * @throws the error of an answer of 300 or more, AbortError, or the error of the network
   */
  async send(request: SignedRequest): Promise<Answer> {
    return await this.#withRetries(request, async () => {
      const answer = await this.#collect(request);
      if (answer.statusCode >= 300) throw this.#errorOf(answer);
      return answer;
    });
  }

  /**
   * Sends a request, and resolves when its answer has begun. The caller must consume or destroy the body.
   * @throws the error of an answer of 300 or more, AbortError, or the error of the network
   */
  async sendForBody(request: SignedRequest): Promise<Dispatcher.ResponseData> {
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
        throw networkError(error, this.#name);
      }
    };
    return await withRetries(this.#options.client, sendOnce, signal);
  }

  /** Sends once more, which is no attempt, when the first answer has shown that the clock was wrong. */
  async #sendInTime<T>(send: () => Promise<T>): Promise<T> {
    const { config } = this.#options.client;
    const { systemClockOffset } = config;
    try {
      return await send();
    } catch (error) {
      if (!isSkewed(config, systemClockOffset)) throw error;
    }
    return await send();
  }

  async #collect(request: SignedRequest): Promise<Answer> {
    const { signal, body } = request;
    const answer = new CollectedAnswer({
      name: this.#name,
      timeoutMs: this.#options.requestTimeoutMs,
      signal,
    });
    this.#signed(request)
      .then((signed) => answer.hasFailed || this.#pool.dispatch({ ...signed, body }, answer))
      .catch((error: Error) => answer.fail(error));
    return await answer.promise;
  }

  async #answerTo(request: SignedRequest): Promise<Dispatcher.ResponseData> {
    const { signal } = request;
    const { requestTimeoutMs } = this.#options;
    const controller = new AbortController();
    const abort = (): void =>
      controller.abort(new DOMException(`The request to ${this.#name} was aborted.`, 'AbortError'));
    const timer = setTimeout(
      () => controller.abort(timeoutError(requestTimeoutMs, this.#name)),
      requestTimeoutMs,
    );
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
    const { url } = this.#options;
    const unsigned = { host: url.host, ...headers, 'x-amz-content-sha256': sha256 };
    return { method, path, headers: await this.#signer.sign({ method, path, headers: unsigned }) };
  }

  #errorOf(answer: ErrorAnswer): Error {
    setClock(this.#options.client.config, answer);
    return this.#options.errorOf(answer);
  }
}

/** Rejects with the reason when the signal aborts. */
async function aborted(signal: AbortSignal): Promise<never> {
  const abort = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => abort.reject(signal.reason as Error), { once: true });
  signal.throwIfAborted();
  return await abort.promise;
}

interface UnsignedRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Encoded, as it is sent. */
  readonly path: string;
  /** In lower case, with `host` and `x-amz-content-sha256`. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * Signs requests by AWS Signature Version 4, in a fifth of the time of the SDK's signer. The credentials are
 * those of the SDK's client, which refreshes them.
 */
export class RequestSigner {
  readonly #config: AwsClient['config'];
  readonly #service: 's3' | 'sqs';
  readonly #region: string;
  /** The key of the last request. It changes with the day, and with the credentials. */
  #last: { readonly secret: string; readonly day: string; readonly key: KeyObject } | undefined;

  constructor(config: AwsClient['config'], { service, region }: { service: 's3' | 'sqs'; region: string }) {
    this.#config = config;
    this.#service = service;
    this.#region = region;
  }

  /** @returns all headers of the request */
  async sign({ method, path, headers }: UnsignedRequest, now = Date.now()): Promise<Record<string, string>> {
    const { accessKeyId, secretAccessKey, sessionToken } = await this.#config.credentials();
    const time = new Date(now + this.#config.systemClockOffset).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const all: Record<string, string> = {
      ...headers,
      'x-amz-date': time,
      ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
    };
    const names = Object.keys(all).toSorted();
    const signedHeaders = names.join(';');
    const canonical = [
      method,
      this.#service === 's3' ? path : path.split('/').map(encodeURIComponent).join('/'), // S3 alone signs paths as they are sent
      '', // no query
      ...names.map((name) => `${name}:${all[name] ?? ''}`),
      '',
      signedHeaders,
      all['x-amz-content-sha256'],
    ].join('\n');
    const day = time.slice(0, 8);
    const scope = `${day}/${this.#region}/${this.#service}/aws4_request`;
    const toSign = `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`;
    const signature = createHmac('sha256', this.#keyOf(secretAccessKey, day)).update(toSign).digest('hex');
    all.authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
    return all;
  }

  /** Deriving it takes four times as long as a signature. */
  #keyOf(secret: string, day: string): KeyObject {
    if (this.#last?.secret !== secret || this.#last.day !== day) {
      const derived = [day, this.#region, this.#service, 'aws4_request'].reduce<string | Buffer>(
        (key, text) => createHmac('sha256', key).update(text).digest(),
        `AWS4${secret}`,
      );
      this.#last = { secret, day, key: createSecretKey(Buffer.from(derived)) };
    }
    return this.#last.key;
  }
}
