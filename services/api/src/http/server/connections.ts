import type { Socket } from 'node:net';
import { networkOf } from '../request/client-address.ts';
import type { ConnectionEvents } from '../telemetry/connection-events.ts';

export interface ConnectionsOptions {
  /** All connections to this process. */
  readonly maxConnections: number;
  /** Of one IPv4 address or /64 network that is no trusted proxy. */
  readonly maxPerNetwork: number;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly events: ConnectionEvents;
}

/** Connections that share a limit. */
interface Group {
  open: number;
  readonly max: number;
  /** Those without a request in progress; the first is idle for longest. */
  readonly idle: Set<Socket>;
  /** Those whose answer is complete and waits for the client to read; the first waits for longest. */
  readonly unread: Set<Socket>;
}

interface Known {
  readonly of: readonly Group[];
  readonly network: string | null;
  requests: number;
}

/**
 * The connections of clients and their limits. At a limit the connection that is idle for longest makes room
 * for a new one (RFC 9112, 9.5: a server may close an idle connection at any time). When none is idle, the
 * one makes room whose client has not read a complete answer for longest. One whose request is being handled
 * never does: when all are such, the new connection is closed.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #all: Group;
  readonly #ofNetworks = new Map<string, Group>();
  readonly #known = new Map<Socket, Known>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#all = { open: 0, max: options.maxConnections, idle: new Set(), unread: new Set() };
  }

  /** Call it with each new connection. */
  opened(socket: Socket): void {
    const { events } = this.#options;
    const network = this.#networkOf(socket);
    const ofNetwork = network === null ? null : this.#groupOf(network);
    if (ofNetwork !== null && !this.#hasRoom(ofNetwork, 'caller')) {
      events.dropped('caller');
      socket.destroy();
      return;
    }
    if (!this.#hasRoom(this.#all, 'total')) {
      events.dropped('total');
      socket.destroy();
      return;
    }
    const of = ofNetwork === null ? [this.#all] : [this.#all, ofNetwork];
    if (network !== null && ofNetwork !== null) this.#ofNetworks.set(network, ofNetwork);
    for (const group of of) {
      group.open += 1;
      group.idle.add(socket);
    }
    this.#known.set(socket, { of, network, requests: 0 });
    events.opened();
    socket.once('close', () => this.#forget(socket));
  }

  /** A request has begun. */
  began(socket: Socket): void {
    const known = this.#known.get(socket);
    if (known === undefined) return;
    known.requests += 1;
    for (const { idle } of known.of) idle.delete(socket);
  }

  /** The answer to a request is complete, and perhaps not yet read. */
  answered(socket: Socket): void {
    for (const { unread } of this.#known.get(socket)?.of ?? []) unread.add(socket);
  }

  /** The answer to a request has been sent, or has been given up. */
  ended(socket: Socket): void {
    const known = this.#known.get(socket);
    if (known === undefined) return;
    known.requests -= 1;
    for (const { unread } of known.of) unread.delete(socket);
    if (known.requests === 0) for (const { idle } of known.of) idle.add(socket);
  }

  #hasRoom(group: Group, of: 'caller' | 'total'): boolean {
    if (group.open < group.max) return true;
    const [longest] = group.idle.size > 0 ? group.idle : group.unread;
    if (longest === undefined) return false;
    this.#options.events.closedIdle(of);
    this.#forget(longest);
    longest.destroy();
    return true;
  }

  #forget(socket: Socket): void {
    const known = this.#known.get(socket);
    if (known === undefined) return;
    this.#known.delete(socket);
    for (const group of known.of) {
      group.open -= 1;
      group.idle.delete(socket);
      group.unread.delete(socket);
      if (group.open === 0 && known.network !== null && this.#ofNetworks.get(known.network) === group)
        this.#ofNetworks.delete(known.network);
    }
    this.#options.events.closed();
  }

  #groupOf(network: string): Group {
    const max = this.#options.maxPerNetwork;
    return (
      this.#ofNetworks.get(network) ?? { open: 0, max, idle: new Set<Socket>(), unread: new Set<Socket>() }
    );
  }

  /** Null: a trusted proxy, whose connections are those of many clients. */
  #networkOf({ remoteAddress = '' }: Socket): string | null {
    return this.#options.isTrustedProxy(remoteAddress) ? null : networkOf(remoteAddress);
  }
}
