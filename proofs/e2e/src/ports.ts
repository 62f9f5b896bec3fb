import { createServer, type Server } from 'node:net';

// Below 32768, from where Linux takes the ports of outgoing connections: the port of a killed service stays
// free. Above those that npm start chooses for its services (packages/dev-stack/src/ports.ts).
const FIRST = 12_000;
const BLOCK = 50;
const BLOCKS = 360;

let unused: number[] = [];
let taking: Promise<void> | undefined;

/**
 * A free port on 127.0.0.1, which no other call gets while this process lives, in this process or another:
 * the service that the port is for binds it only a second later.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = unused.shift();
    if (port === undefined) await (taking ??= takeBlock().finally(() => (taking = undefined)));
    else if (await isFree(port)) return port;
  }
}

/**
 * Takes a block of ports for this process. The process listens on the first of them until it ends, which
 * keeps others from the block.
 */
async function takeBlock(): Promise<void> {
  for (let n = 0; n < BLOCKS; n++) {
    const first = FIRST + ((process.pid + n) % BLOCKS) * BLOCK;
    const held = await listen(first);
    if (held === null) continue;
    held.unref();
    unused = Array.from({ length: BLOCK - 1 }, (_, index) => first + 1 + index);
    return;
  }
  throw new Error(`All blocks of ports from ${FIRST} to ${FIRST + BLOCKS * BLOCK - 1} are in use.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  await new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
  return server !== null;
}

/** Null: another program listens on the port. */
function listen(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(null))
      .listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}
