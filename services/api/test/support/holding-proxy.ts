import { TcpProxy } from '@pasteflow/dev-stack/testing';

export interface HoldingProxy extends Pick<TcpProxy, 'through' | 'stop'> {
  /**
   * Resolves when a client has sent the text; nothing that Postgres sends afterwards on that connection gets
   * through.
   */
  readonly holding: Promise<void>;
  /** Passes on what is held, and everything after it. */
  release(): void;
  /** Resets all connections, including what is held. */
  drop(): Promise<void>;
}

/** The whole message of a COMMIT. The services also ask for the setting synchronous_commit. */
export const COMMIT = '\u000bcommit\0';

/**
 * A proxy in front of Postgres that holds the answer to the first message that contains this text.
 * @param after what the same connection must have sent before. Default: nothing
 */
export async function startHoldingProxy(
  upstreamPort: number,
  text: string | RegExp,
  { after = /(?:)/ }: { after?: RegExp } = {},
): Promise<HoldingProxy> {
  const holding = Promise.withResolvers<void>();
  const kept: (() => void)[] = [];
  let seen = false;
  let released = false;
  const proxy = await TcpProxy.start(upstreamPort, (client, upstream) => {
    let held = false;
    let isAfter = false;
    client.on('data', (chunk: Buffer) => {
      isAfter ||= after.test(chunk.toString('latin1'));
      if (
        !seen &&
        isAfter &&
        (typeof text === 'string' ? chunk.includes(text) : text.test(chunk.toString('latin1')))
      ) {
        seen = held = true;
        holding.resolve();
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (!held || released) client.write(chunk);
      else kept.push(() => client.write(chunk));
    });
  });
  return {
    through: (url) => proxy.through(url),
    holding: holding.promise,
    release: () => {
      released = true;
      for (const passOn of kept.splice(0)) passOn();
    },
    drop: async () => {
      await proxy.down();
      await proxy.up();
    },
    stop: () => proxy.stop(),
  };
}
