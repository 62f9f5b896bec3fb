import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Forwards what each side of a connection sends to the other side. */
type Forward = (client: Socket, upstream: Socket) => void;

/** Forwards connections to 127.0.0.1:`upstreamPort`. Makes Postgres unreachable without stopping it. */
export class TcpProxy {
  readonly #server: RestartableServer;
  #upstreamPort: number;

  private constructor(upstreamPort: number, forward: Forward) {
    this.#upstreamPort = upstreamPort;
    const server = createServer((client) => {
      const upstream = connect(this.#upstreamPort, '127.0.0.1');
      forward(client, upstream);
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        socket.on('error', () => other.destroy());
        socket.on('close', () => other.destroy());
      }
    });
    this.#server = new RestartableServer(server);
  }

  /** @param forward for a proxy that holds or changes something. Default: everything is passed on */
  static async start(
    upstreamPort: number,
    forward: Forward = (client, upstream) => client.pipe(upstream).pipe(client),
  ): Promise<TcpProxy> {
    const proxy = new TcpProxy(upstreamPort, forward);
    await proxy.up();
    return proxy;
  }

  get port(): number {
    return this.#server.port;
  }

  /** `url` with this proxy's host and port. */
  through(url: string): string {
    const result = new URL(url);
    result.host = `127.0.0.1:${this.port}`;
    return result.href;
  }

  /** Resets every connection and forwards new ones to another server, as an address that a failover moves. */
  async moveTo(upstreamPort: number): Promise<void> {
    await this.down();
    this.#upstreamPort = upstreamPort;
    await this.up();
  }

  /** Resets every connection and refuses new ones. */
  down(): Promise<void> {
    return this.#server.down();
  }

  up(): Promise<void> {
    return this.#server.up();
  }

  stop(): Promise<void> {
    return this.#server.down();
  }
}

/**
 * A TCP or HTTP server on 127.0.0.1. `down()` resets every connection and refuses new ones; `up()` listens on
 * the same port again.
 */
export class RestartableServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
  }

  get port(): number {
    return this.#port;
  }

  async up(): Promise<void> {
    if (this.#server.listening) return;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }
}
