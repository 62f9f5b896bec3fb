import { connect, createServer, type Socket } from 'node:net';
import { RestartableServer } from './restartable-server.ts';

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
