/** A function that makes a new stream of the same bytes each time. */
export type StreamFactory = () => ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;

/** What a paste can be made of. A text is sent as UTF-8. */
export type Content = string | Uint8Array | Blob | ReadableStream<Uint8Array> | StreamFactory;

/** Content on its way out, for one try after the other. */
export interface ContentSource {
  /** What goes into a request. */
  readonly next: () => Promise<{ readonly body: unknown; readonly duplex?: 'half' }>;
  readonly isRepeatable: () => boolean;
  /** Nobody will ask for more. */
  readonly release: (reason: unknown) => void;
}

/** @throws TypeError for a text that UTF-8 can't carry as it is */
export function contentSource(content: Content): ContentSource {
  if (typeof content === 'string' && !content.isWellFormed()) {
    throw new TypeError('the text has lone surrogates, which would arrive as U+FFFD; send bytes instead');
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

/** A stream is there once: it may be sent again for as long as none of it has been read. */
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
