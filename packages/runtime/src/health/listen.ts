import { once } from 'node:events';
import type { Server } from 'node:http';
import { BlockList, isIP, type AddressInfo } from 'node:net';
import { StartError } from '../lifecycle.ts';

/**
 * Starts to listen, and returns the port.
 * @throws StartError with one sentence, when the address is in use, is not allowed or is not an address of
 * this machine
 */
export async function listen(
  server: Server,
  options: {
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
    /** The variable that sets the port, for the error message: `API_PORT`. */
    readonly portVariable: string;
  },
): Promise<number> {
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
        `${address} is in use by another program. Stop that program, or set ${portVariable} to another port.`,
      );
    case 'EACCES':
      return new StartError(
        `This user may not listen on ${address}. Set ${portVariable} to a port above 1023.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StartError(
        `${address} is not an address of this machine. Correct the host that belongs to ${portVariable}.`,
      );
    default:
      return undefined;
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only this machine reaches the host: a name or an address, without brackets. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
