import { PasteflowConnectionError } from './errors.ts';

/**
 * Requests the content from that byte on; a response that has the whole content instead is read from there.
 */
export type OpenContent = (fromByte: number) => Promise<Response>;

/** The content of a paste while it is received. Read it once: as a stream, or as a whole. */
export class PasteContent {
  readonly stream: ReadableStream<Bytes>;
  /** In bytes; NaN when the response was compressed, which happens in browsers only. */
  readonly size: number;
  /** The entity tag: of a content its SHA-256 in hex, in quotes. */
  readonly etag: string;

  /** @param maxStalls number of resumed downloads in a row that may bring nothing */
  constructor(first: Response, open: OpenContent, maxStalls: number) {
    this.size = sizeOf(first);
    this.etag = first.headers.get('ETag') ?? '';
    this.stream = resumed(first, this.size, open, maxStalls);
  }

  async bytes(): Promise<Bytes> {
    return new Uint8Array(await new Response(this.stream).arrayBuffer());
  }

  /** Decoded as UTF-8. A byte order mark is kept, and invalid bytes become U+FFFD. */
  async text(): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.bytes());
  }
}

/** Continues at the same byte when the connection breaks off. */
function resumed(
  first: Response,
  size: number,
  open: OpenContent,
  maxStalls: number,
): PasteContent['stream'] {
  let reader = readerOf(first);
  let received = 0;
  let stalls = 0;
  return new ReadableStream(
    {
      pull: async (controller) => {
        for (;;) {
          try {
            const { done, value } = await reader.read();
            if (done && (received === size || Number.isNaN(size))) return controller.close();
            if (done) throw new PasteflowConnectionError('the response is shorter than its Content-Length');
            received += value.byteLength;
            stalls = 0;
            return controller.enqueue(value);
          } catch (cause) {
            if (received === size) return controller.close();
            if (stalls >= maxStalls) throw brokenOff(received, cause);
            stalls += 1;
            reader = await readerFrom(received, await open(received), size);
          }
        }
      },
      cancel: async (reason) => await reader.cancel(reason),
    },
    { highWaterMark: 0 }, // nothing is read ahead of the reader
  );
}

/** A reveal, and a proxy that ignores Range, send the whole content from the start. */
async function readerFrom(
  fromByte: number,
  response: Response,
  size: number,
): Promise<ReadableStreamDefaultReader<Bytes>> {
  const { status, headers, body } = response;
  if (status === 206 && headers.get('Content-Range')?.startsWith(`bytes ${fromByte}-`) === true)
    return readerOf(response);
  if (status !== 200 || sizeOf(response) !== size) {
    await body?.cancel();
    throw new PasteflowConnectionError(`requested the bytes from ${fromByte} on, but received others`);
  }
  return readerOf(response, skipping(fromByte));
}

function skipping(bytes: number): TransformStream<Bytes, Bytes> {
  let left = bytes;
  return new TransformStream({
    transform: (chunk, controller) => {
      const rest = chunk.subarray(left);
      left = Math.max(0, left - chunk.length);
      if (rest.length > 0) controller.enqueue(rest);
    },
  });
}

/**
 * The platform decompresses a response, so that its Content-Length is not the number of bytes that arrive.
 */
function sizeOf({ headers }: Response): number {
  const length = headers.get('Content-Length');
  return length === null || headers.has('Content-Encoding') ? NaN : Number(length);
}

function readerOf(
  { body }: Response,
  through?: TransformStream<Bytes, Bytes>,
): ReadableStreamDefaultReader<Bytes> {
  if (body === null) throw new PasteflowConnectionError('the response has no body');
  return (through === undefined ? body : body.pipeThrough(through)).getReader();
}

function brokenOff(received: number, cause: unknown): Error {
  return new PasteflowConnectionError(`the content broke off after ${received} bytes`, { cause });
}

/**
 * Bytes that the platform's types take as a body: `Uint8Array<ArrayBuffer>` where the user's TypeScript has this
 * parameter (5.7 and later).
 */
export type Bytes = ReturnType<InstanceType<typeof TextEncoder>['encode']>;

/** A function that returns a new stream of the same bytes at each call. */
export type StreamFactory = () => ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;

/** The content of a new paste. A string is sent as UTF-8. */
export type Content = string | Uint8Array | Blob | ReadableStream<Uint8Array> | StreamFactory;

/** The content of a request, for each of its tries. */
export interface ContentSource {
  /** The body of the next try. */
  readonly next: () => Promise<{ readonly body: unknown; readonly duplex?: 'half' }>;
  readonly isRepeatable: () => boolean;
  /** Called when no try follows. */
  readonly release: (reason: unknown) => void;
}

/** @throws TypeError for a string that UTF-8 can't encode */
export function contentSource(content: Content): ContentSource {
  if (typeof content === 'string' && !content.isWellFormed()) {
    throw new TypeError(
      'The text has lone surrogates, which UTF-8 would replace by U+FFFD. Send bytes instead.',
    );
  }
  if (typeof content === 'function') {
    return {
      next: async () => ({ body: await content(), duplex: 'half' }),
      isRepeatable: () => true,
      release: () => {},
    };
  }
  if (content instanceof ReadableStream) return fromStream(content);
  return { next: async () => ({ body: content }), isRepeatable: () => true, release: () => {} };
}

/** A stream can be read once: it can be sent again as long as nothing has been read from it. */
function fromStream(stream: ReadableStream<Uint8Array>): ContentSource {
  const reader = stream.getReader();
  let isTouched = false;
  const cancel = (reason: unknown): void => void reader.cancel(reason).catch(() => {});
  const next = async (): Promise<{ body: unknown; duplex: 'half' }> => {
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          isTouched = true;
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => {
          if (isTouched) cancel(reason);
        },
      },
      { highWaterMark: 0 }, // nothing is read ahead of the connection
    );
    return { body, duplex: 'half' };
  };
  return { next, isRepeatable: () => !isTouched, release: cancel };
}
