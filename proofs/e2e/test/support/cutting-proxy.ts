import { TcpProxy } from '@pasteflow/dev-stack/testing';

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
  let stopped = 0;
  const proxy = await TcpProxy.start(upstreamPort, (client, upstream) => {
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
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    get stopped() {
      return stopped;
    },
    stop: () => proxy.stop(),
  };
}
