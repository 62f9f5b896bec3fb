import { setTimeout as sleep } from 'node:timers/promises';

export interface DownloadOptions {
  /** The URL for the next request: a signed one may have expired since the last. */
  readonly urlOf: () => Promise<string>;
  /** In bytes. */
  readonly size: number;
  readonly write: (chunk: Uint8Array, position: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Requests in a row that may bring nothing. */
const MAX_STALLS = 8;

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8000;

/** A request that brings nothing for so long is given up, and the next one continues. */
const SILENCE_MS = 30_000;

/** The part of a download that is there. */
interface Received {
  bytes: number;
  etag: string | null;
}

/**
 * Downloads a file. When a request breaks off, the next one continues at the same byte, if the file is still
 * the same (`If-Range`, and the ETag of the answer, for servers that ignore `If-Range`).
 * @throws Error when the file has changed meanwhile, or too many requests in a row bring nothing
 */
export async function download({ urlOf, size, write, signal }: DownloadOptions): Promise<void> {
  const received: Received = { bytes: 0, etag: null };
  for (let stalls = 0; received.bytes < size;) {
    const before = received.bytes;
    try {
      await receive(await urlOf(), received, write, signal);
      if (received.bytes > size) throw new ChangedError();
      if (received.bytes < size)
        throw new Error(`the download ended after ${received.bytes} of ${size} bytes`);
    } catch (error) {
      signal.throwIfAborted();
      stalls = received.bytes > before ? 1 : stalls + 1;
      if (error instanceof ChangedError || stalls > MAX_STALLS) throw error;
      await sleep(Math.min(FIRST_WAIT_MS * 2 ** (stalls - 1), MAX_WAIT_MS), undefined, { signal });
    }
  }
}

class ChangedError extends Error {
  constructor() {
    super('The file has changed during the download. Download it again.');
  }
}

async function receive(
  url: string,
  received: Received,
  write: DownloadOptions['write'],
  outer: AbortSignal,
): Promise<void> {
  const silence = new AbortController();
  const signal = AbortSignal.any([outer, silence.signal]);
  const hear = () =>
    setTimeout(() => silence.abort(new Error(`nothing arrived for ${SILENCE_MS} ms`)), SILENCE_MS);
  let timer = hear();
  try {
    const response = await fetch(url, { headers: headersFor(received), signal });
    assertContinues(response, received);
    received.etag = response.headers.get('ETag');
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer);
      await write(chunk, received.bytes);
      received.bytes += chunk.length;
      timer = hear();
    }
  } finally {
    clearTimeout(timer);
  }
}

function headersFor({ bytes, etag }: Received): Record<string, string> {
  if (bytes === 0) return {};
  return { Range: `bytes=${bytes}-`, ...(etag !== null && { 'If-Range': etag }) };
}

function assertContinues({ status, headers, ok }: Response, { bytes, etag }: Received): void {
  if (!ok) throw new Error(`the store answered ${status}`);
  if (bytes === 0) return;
  const isRest = status === 206 && headers.get('Content-Range')?.startsWith(`bytes ${bytes}-`) === true;
  if (!isRest || headers.get('ETag') !== etag) throw new ChangedError();
}
