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
