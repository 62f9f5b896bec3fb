import { createServer } from 'node:net';

// Below 32768, from where Linux takes the ports of outgoing connections: the port of a killed service stays free.
const FIRST = 12_000;
const COUNT = 18_000;

let next = process.pid * 37;

/** A free port on 127.0.0.1. Two processes start their searches far apart. */
export async function freePort(): Promise<number> {
  for (;;) {
    next += 1;
    const port = FIRST + (next % COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
