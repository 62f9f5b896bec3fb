import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from '../lifecycle/start-error.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The variable that names the port, for the message when it can't be had: `API_PORT`. */
  readonly portVariable: string;
}

/**
 * Listens and answers the port that was taken.
 * @throws StartError, one sentence, when the address is in use, may not be used or isn't this machine's
 */
export async function listen(server: Server, options: ListenOptions): Promise<number> {
  const { host, port, portVariable } = options;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw asStartError(error, `${host}:${port}`, portVariable) ?? error;
  }
  return (server.address() as AddressInfo).port;
}

function asStartError(error: unknown, address: string, portVariable: string): StartError | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StartError(
        `${address} is in use by another program: stop it or set ${portVariable} to another port`,
      );
    case 'EACCES':
      return new StartError(
        `This user may not listen on ${address}: set ${portVariable} to a port above 1023`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StartError(`${address} is no address of this machine; ${portVariable} names its port`);
    default:
      return undefined;
  }
}
