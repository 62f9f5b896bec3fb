import { connect, createServer, type Socket } from 'node:net';

export interface HoldingProxy {
  /** `url` with the host and port of this proxy. */
  through(url: string): string;
  /**
   * Resolves when a client has sent the text; nothing that Postgres sends afterwards on that connection gets
   * through.
   */
  readonly holding: Promise<void>;
  /** Passes on what is held, and everything after it. */
  release(): void;
  /** Resets all connections, including what is held. */
  drop(): void;
  stop(): Promise<void>;
}

/** The whole message of a COMMIT. The services also ask for the setting synchronous_commit. */
export const COMMIT = '\u000bcommit\0';

/**
 * A proxy in front of Postgres that holds the answer to the first message that contains this text.
 * @param after what the same connection must have sent before. Default: nothing
 */
export async function startHoldingProxy(
  upstreamPort: number,
  text: string,
  { after = /(?:)/ }: { after?: RegExp } = {},
): Promise<HoldingProxy> {
  const holding = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const kept: (() => void)[] = [];
  let seen = false;
  let released = false;
  const server = createServer((client) => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    let held = false;
    let isAfter = false;
    client.on('data', (chunk: Buffer) => {
      isAfter ||= after.test(chunk.toString('latin1'));
      if (!seen && isAfter && chunk.includes(text)) {
        seen = held = true;
        holding.resolve();
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (!held || released) client.write(chunk);
      else kept.push(() => client.write(chunk));
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    through: (url) => {
      const result = new URL(url);
      result.host = `127.0.0.1:${port}`;
      return result.href;
    },
    holding: holding.promise,
    release: () => {
      released = true;
      for (const passOn of kept.splice(0)) passOn();
    },
    drop,
    stop: async () => {
      drop();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
