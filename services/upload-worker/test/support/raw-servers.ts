import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach } from '@jest/globals';

/** What a test file opens, by the bytes that it answers with; closed after each test. */
export function useRawServers() {
  const open: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];
  afterEach(async () => {
    for (const { server, sockets } of open.splice(0)) {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    }
  });

  /** @returns its host and port */
  return async (serve: (socket: Socket) => void, tls?: TlsOptions): Promise<string> => {
    const sockets = new Set<Socket>();
    const accept = (socket: Socket): void => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
      serve(socket);
    };
    const server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
    server.on('tlsClientError', () => {});
    open.push({ server, sockets });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
}

/** Writes `part` again and again, for as long as somebody reads. */
export function writeForEver(socket: Socket, part: string): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(part));
  };
  socket.on('drain', write);
  write();
}
