import { Pool, type Dispatcher } from 'undici';
import type { S3Client } from '@aws-sdk/client-s3';
import { contentEncodingOf } from '@pasteflow/domain';
import { CONNECT_TIMEOUT_MS, MAX_SOCKETS, type S3ClientOptions } from '../client.ts';
import {
  CONTENT_TYPE,
  rangeHeader,
  type GetOptions,
  type ObjectRequests,
  type PutOptions,
  type StoredObject,
} from '../object-requests.ts';
import { answerError, clockSkewMs, type ErrorAnswer } from './answer-error.ts';
import { objectPath, type BucketAddress } from './bucket-address.ts';
import { networkError, timeoutError } from './network-error.ts';
import { RequestSigner } from './request-signer.ts';
import { withRetries } from './with-retries.ts';

/** The digest of no bytes: the body of a GET. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

interface SignedCall {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  readonly signal: AbortSignal | undefined;
}

/**
 * Puts and gets without the SDK's middleware, which takes four fifths of the CPU time of a request. Credentials, the address of the
 * bucket, retries and the correction of the clock are those of the SDK's client.
 */
export class DirectRequests implements ObjectRequests {
  readonly #client: S3Client;
  readonly #address: BucketAddress;
  readonly #signer: RequestSigner;
  readonly #pool: Pool;
  readonly #timeoutMs: number;

  constructor(
    client: S3Client,
    address: BucketAddress,
    { maxSockets = MAX_SOCKETS, requestTimeoutMs }: Pick<S3ClientOptions, 'maxSockets' | 'requestTimeoutMs'>,
  ) {
    this.#client = client;
    this.#address = address;
    this.#signer = new RequestSigner(client.config, { region: address.signingRegion });
    this.#timeoutMs = requestTimeoutMs;
    this.#pool = new Pool(address.url.origin, {
      connections: maxSockets,
      connectTimeout: CONNECT_TIMEOUT_MS,
      // This class has a timer of its own: undici's doesn't run while a request waits for a connection. Bodies are
      // read as slowly as their readers like.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async put(key: string, content: Buffer, { sha256, encoding, signal }: PutOptions): Promise<void> {
    const headers = {
      'content-length': String(content.length),
      'content-type': CONTENT_TYPE,
      ...(encoding && { 'content-encoding': encoding }),
      'x-amz-checksum-sha256': sha256.toString('base64'),
      'x-amz-content-sha256': sha256.toString('hex'),
    };
    const { body } = await this.#answered({ method: 'PUT', key, headers, body: content, signal });
    await body.dump();
  }

  async get(key: string, { range, signal }: GetOptions): Promise<StoredObject> {
    const headers = {
      'x-amz-content-sha256': EMPTY_SHA256,
      ...(range !== undefined && { range: rangeHeader(range) }),
    };
    const answer = await this.#answered({ method: 'GET', key, headers, body: null, signal });
    return {
      body: answer.body,
      contentLength: Number(answer.headers['content-length'] ?? 0),
      encoding: contentEncodingOf(answer.headers['content-encoding']?.toString()),
      isPart: answer.headers['content-range'] !== undefined,
    };
  }

  close(): void {
    void this.#pool.destroy();
  }

  async #answered(call: SignedCall): Promise<Dispatcher.ResponseData> {
    return await withRetries(this.#client, () => this.#sendOnce(call), call.signal);
  }

  async #sendOnce(call: SignedCall): Promise<Dispatcher.ResponseData> {
    const { signal } = call;
    const request = new AbortController();
    const abort = (): void => request.abort(new DOMException('The request to S3 was aborted.', 'AbortError'));
    const timer = setTimeout(() => request.abort(timeoutError(this.#timeoutMs)), this.#timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    try {
      // Credentials may take long, and undici ignores the signal of a request that waits for a connection until it has
      // one, and then doesn't send it.
      const answer = await Promise.race([this.#signAndSend(call, request.signal), aborted(request.signal)]);
      // A reader may destroy the body before it listens for errors.
      answer.body.on('error', () => {}).once('close', () => signal?.removeEventListener('abort', abort));
      if (answer.statusCode >= 300) throw await this.#errorOf(answer);
      return answer;
    } catch (error) {
      signal?.removeEventListener('abort', abort);
      throw networkError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #signAndSend(
    { method, key, headers, body }: SignedCall,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { url } = this.#address;
    const path = objectPath(this.#address, key);
    const signed = await this.#signer.sign({ method, url, path, headers: { host: url.host, ...headers } });
    return await this.#pool.request({ method, path, headers: signed, body, signal });
  }

  async #errorOf({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<Error> {
    const answer: ErrorAnswer = { status, headers, text: await body.text() };
    const skew = clockSkewMs(answer);
    const error = answerError(answer);
    if (skew === null) return error;
    this.#client.config.systemClockOffset = skew;
    return Object.assign(error, { $retryable: {} });
  }
}

/** Rejects with the reason when the signal aborts. */
async function aborted(signal: AbortSignal): Promise<never> {
  const abort = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => abort.reject(signal.reason as Error), { once: true });
  signal.throwIfAborted();
  return await abort.promise;
}
