import { PasteflowConnectionError } from './errors.ts';

/** Opens the content from that byte on; the answer has a body. */
export type OpenContent = (fromByte: number) => Promise<Response>;

/** The bytes of a paste, as they come in. Read them once: by the stream, or whole. */
export class PasteContent {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** In bytes. */
  readonly size: number;
  /** The SHA-256 of the content in hex, in quotes. */
  readonly etag: string;

  /** @param maxStalls resumptions in a row that may bring nothing */
  constructor(first: Response, open: OpenContent, maxStalls: number) {
    this.size = Number(first.headers.get('Content-Length'));
    this.etag = first.headers.get('ETag') ?? '';
    this.stream = resumed(first, this.size, open, maxStalls);
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await new Response(this.stream).arrayBuffer());
  }

  /** Decoded as UTF-8, a byte order mark included; bytes that are none become U+FFFD. */
  async text(): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.bytes());
  }
}

/** A connection that breaks off goes on where it was. */
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
            if (done && (received === size || !first.headers.has('Content-Length')))
              return controller.close();
            if (done) throw new PasteflowConnectionError('the answer was shorter than it said');
            received += value.byteLength;
            stalls = 0;
            return controller.enqueue(value);
          } catch (cause) {
            if (received === size) return controller.close();
            if (stalls >= maxStalls) throw brokenOff(received, cause);
            stalls += 1;
            reader = readerOf(await restFrom(received, await open(received)));
          }
        }
      },
      cancel: async (reason) => await reader.cancel(reason),
    },
    { highWaterMark: 0 }, // as fast as it is read, and no faster
  );
}

/** Who ignores the Range on the way sends it all from the beginning. */
async function restFrom(fromByte: number, response: Response): Promise<Response> {
  const range = response.headers.get('Content-Range');
  if (response.status === 206 && range?.startsWith(`bytes ${fromByte}-`)) return response;
  await response.body?.cancel();
  throw new PasteflowConnectionError(`asked for the bytes from ${fromByte} on, and got others`);
}

function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> {
  if (body === null) throw new PasteflowConnectionError('the answer has no body');
  return body.getReader();
}

function brokenOff(received: number, cause: unknown): Error {
  return new PasteflowConnectionError(`the content broke off after ${received} bytes`, { cause });
}
