import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Forwards connections to a port, and stops each after a number of bytes of the answers. */
export interface CuttingProxy {
  readonly url: string;
  /** How many connections it has stopped. */
  readonly stopped: number;
  stop(): Promise<void>;
}

/** @param how `cut`: the connection is closed; `stall`: nothing more arrives */
export async function startCuttingProxy(
  upstreamPort: number,
  maxBytes: number,
  how: 'cut' | 'stall',
): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let stopped = 0;
  const server = createServer((client) => {
    const upstream = connect(upstreamPort, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(upstream);
    let left = maxBytes;
    upstream.on('data', (chunk: Buffer) => {
      if (left <= 0) return;
      left -= chunk.length;
      client.write(chunk);
      if (left > 0) return;
      stopped += 1;
      if (how === 'cut') client.end(() => upstream.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get stopped() {
      return stopped;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
