import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { StackError } from './stack-error.ts';

/** A port and the variable that sets it, for error messages. */
export interface PortRequest {
  port: number;
  host?: string;
  setting: string;
}

/**
 * Checks that the port can be listened on, and returns it, or a free port for port 0. Another program can
 * still take the port before its user listens on it: the check gives an early and clear error, not a
 * guarantee.
 * @throws StackError `port-in-use` or `port-unusable`
 */
export async function takePort({ port, host = '127.0.0.1', setting }: PortRequest): Promise<number> {
  try {
    return await listenOnce(port, host);
  } catch (cause) {
    throw portError({ port, host, setting }, cause);
  }
}

/**
 * For users that listen seconds later. A port that the system gives for port 0 is often taken again by then,
 * because Linux takes the ports of outgoing connections from 32768 on (macOS and Windows: 49152). The
 * end-to-end tests use the ports from 12000 to 29999 (proofs/e2e/src/ports.ts), and Kubernetes those from
 * 30000 on.
 */
const LASTING_PORTS = { first: 10_000, count: 2_000 };
const MAX_LASTING_TRIES = 100;

/**
 * Calls takePort for each request, and returns no port twice. A free port is one that the system gives to no
 * outgoing connection.
 * @throws StackError as takePort does
 */
export async function takePorts(requests: readonly PortRequest[]): Promise<number[]> {
  const taken: number[] = [];
  for (const request of requests) {
    let port = await takeLastingPort(request);
    while (request.port === 0 && taken.includes(port)) port = await takeLastingPort(request);
    taken.push(port);
  }
  return taken;
}

async function takeLastingPort(request: PortRequest): Promise<number> {
  if (request.port !== 0) return await takePort(request);
  for (let tries = 1; ; tries++) {
    const port = LASTING_PORTS.first + randomInt(LASTING_PORTS.count);
    try {
      return await takePort({ ...request, port });
    } catch (error) {
      if (!isInUse(error) || tries === MAX_LASTING_TRIES) throw error;
    }
  }
}

const MAX_TRIES = 5;

/**
 * Starts a server on the port, or on a free one for port 0. When another program takes the free port before
 * the server listens on it, the server starts again on another one.
 * @throws StackError as takePort does, and whatever `start` throws
 */
export async function withPort<Server>(
  request: PortRequest,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  for (let tries = 1; ; tries++) {
    const port = await takePort(request);
    try {
      return await start(port);
    } catch (error) {
      if (!isInUse(error) || request.port !== 0 || tries === MAX_TRIES) throw error;
    }
  }
}

const isInUse = (error: unknown): boolean => error instanceof StackError && error.code === 'port-in-use';

export function portError({ port, host = '127.0.0.1', setting }: PortRequest, cause: unknown): StackError {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    // Only the services can listen elsewhere: API_HOST belongs to API_PORT.
    const other = setting.startsWith('STACK_')
      ? ''
      : `, or set ${setting.replace(/PORT$/, 'HOST')} to another one`;
    return new StackError(
      'port-unusable',
      `This machine has no address ${host} (${code}). Give its loopback interface that address${other}.`,
      { cause },
    );
  }
  return code === 'EADDRINUSE'
    ? new StackError(
        'port-in-use',
        `Port ${port} on ${host} is in use by another program. Stop that program, or set ${setting} to another port (0: any free port).`,
        { cause },
      )
    : new StackError(
        'port-unusable',
        `Port ${port} on ${host} is not available (${code ?? String(cause)}). Set ${setting} to another port (0: any free port).`,
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
