import { createServer, type AddressInfo } from 'node:net';
import { StackError } from './stack-error.ts';

/** Where a port comes from, for the message: "Port 3000 (API_PORT) …". */
export interface PortRequest {
  port: number;
  host?: string;
  setting: string;
}

/**
 * The port asked for, or a free one for port 0. Throws StackError `port-in-use` or `port-unusable`. Only whoever
 * listens on it next really has it, so this is for a clear message early, not for a guarantee.
 */
export async function takePort({ port, host = '127.0.0.1', setting }: PortRequest): Promise<number> {
  try {
    return await listenOnce(port, host);
  } catch (cause) {
    throw portError({ port, host, setting }, cause);
  }
}

/** As takePort for each, and no free one twice. */
export async function takePorts(requests: readonly PortRequest[]): Promise<number[]> {
  const taken: number[] = [];
  for (const request of requests) {
    let port = await takePort(request);
    while (request.port === 0 && taken.includes(port)) port = await takePort(request);
    taken.push(port);
  }
  return taken;
}

export function portError({ port, host = '127.0.0.1', setting }: PortRequest, cause: unknown): StackError {
  const code = (cause as NodeJS.ErrnoException).code;
  return code === 'EADDRINUSE'
    ? new StackError(
        'port-in-use',
        `Port ${port} on ${host} is in use by another program: stop that, or set ${setting} to another port (0 takes a free one).`,
        { cause },
      )
    : new StackError(
        'port-unusable',
        `Port ${port} on ${host} can't be listened on (${code ?? String(cause)}): set ${setting} to another port (0 takes a free one).`,
        { cause },
      );
}

function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const taken = (server.address() as AddressInfo).port;
      server.close(() => resolve(taken));
    });
  });
}
