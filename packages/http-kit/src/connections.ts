import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from '@pasteflow/runtime';
import ipaddr from 'ipaddr.js';

/** The share of one IPv4 address or /64 network that is no trusted proxy. */
const SHARE_OF_A_NETWORK = 1 / 4;

interface ConnectionsOptions {
  /** All connections to this process. */
  readonly maxConnections: number;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly metrics: Metrics;
}

/** Connections that share a limit: all of them, or those of a network. */
class Group {
  readonly of: 'total' | 'caller';
  readonly max: number;
  open = 0;
  /** Those without a request in progress; the first is idle for longest. */
  readonly idle = new Set<Socket>();
  /** Those whose answer is complete and waits for the client to read; the first waits for longest. */
  readonly unread = new Set<Socket>();

  constructor(of: 'total' | 'caller', max: number) {
    this.of = of;
    this.max = max;
  }
}

interface Known {
  readonly groups: readonly Group[];
  /** Null: of a trusted proxy, whose connections are those of many clients. */
  readonly network: string | null;
  requests: number;
}

/**
 * The connections of clients and their limits. At a limit the connection that is idle for longest makes room
 * for a new one (RFC 9112, 9.5: a server may close an idle connection at any time). When none is idle, the
 * one makes room whose client has not read a complete answer for longest. One whose request is being handled
 * never does: when all are such, the new connection is closed. Strangers cause all this at any rate, so it is
 * counted and not logged.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #all: Group;
  readonly #ofNetworks = new Map<string, Group>();
  readonly #known = new Map<Socket, Known>();
  readonly #dropped;
  readonly #closedIdle;

  constructor(options: ConnectionsOptions) {
    const { maxConnections, metrics } = options;
    this.#options = options;
    this.#all = new Group('total', maxConnections);
    metrics.computed(
      {
        name: 'http_connections',
        help: 'Connections of clients, and their limit.',
        type: 'gauge',
        labels: ['kind'],
      },
      () => [
        { labels: { kind: 'open' }, value: this.#all.open },
        { labels: { kind: 'limit' }, value: maxConnections },
      ],
    );
    this.#dropped = metrics.counter({
      name: 'http_connections_dropped_total',
      help: 'New connections that were closed at once because all connections of the process, or of this caller, had a request that was being handled.',
      labels: ['of'],
    });
    this.#closedIdle = metrics.counter({
      name: 'http_connections_closed_idle_total',
      help: 'Connections without a request, or whose client did not read the answer, that were closed to make room for a new one, because the process or this caller had its maximum number of connections.',
      labels: ['of'],
    });
    for (const limit of ['total', 'caller']) {
      this.#dropped.inc({ of: limit }, 0);
      this.#closedIdle.inc({ of: limit }, 0);
    }
  }

  /** Call it with each new connection. */
  opened(socket: Socket): void {
    const { isTrustedProxy, maxConnections } = this.#options;
    const maxPerNetwork = Math.ceil(maxConnections * SHARE_OF_A_NETWORK);
    const { remoteAddress = '' } = socket;
    const network = isTrustedProxy(remoteAddress) ? null : networkOf(remoteAddress);
    const groups = [this.#all];
    if (network !== null) groups.unshift(this.#ofNetworks.get(network) ?? new Group('caller', maxPerNetwork));
    for (const group of groups) {
      if (this.#hasRoom(group)) continue;
      this.#dropped.inc({ of: group.of });
      socket.destroy();
      return;
    }
    for (const group of groups) {
      group.open += 1;
      group.idle.add(socket);
      if (network !== null && group !== this.#all) this.#ofNetworks.set(network, group);
    }
    this.#known.set(socket, { groups, network, requests: 0 });
    socket.once('close', () => this.#forget(socket));
  }

  /** Call it with the answer to each request, when the request has begun. */
  handling(res: ServerResponse): void {
    const { socket } = res.req;
    const known = this.#known.get(socket);
    if (known === undefined) return;
    known.requests += 1;
    for (const { idle } of known.groups) idle.delete(socket);
    res.once('prefinish', () => this.#answered(socket));
    res.once('close', () => this.#ended(socket));
  }

  /** The answer to a request is complete, and perhaps not yet read. */
  #answered(socket: Socket): void {
    for (const { unread } of this.#known.get(socket)?.groups ?? []) unread.add(socket);
  }

  /** The answer to a request has been sent, or has been given up. */
  #ended(socket: Socket): void {
    const known = this.#known.get(socket);
    if (known === undefined) return;
    known.requests -= 1;
    for (const { unread } of known.groups) unread.delete(socket);
    if (known.requests === 0) for (const { idle } of known.groups) idle.add(socket);
  }

  #hasRoom({ of, open, max, idle, unread }: Group): boolean {
    if (open < max) return true;
    const [longest] = idle.size > 0 ? idle : unread;
    if (longest === undefined) return false;
    this.#closedIdle.inc({ of });
    this.#forget(longest);
    longest.destroy();
    return true;
  }

  #forget(socket: Socket): void {
    const known = this.#known.get(socket);
    if (known === undefined) return;
    this.#known.delete(socket);
    for (const group of known.groups) {
      group.open -= 1;
      group.idle.delete(socket);
      group.unread.delete(socket);
      if (group.open === 0 && known.network !== null && this.#ofNetworks.get(known.network) === group)
        this.#ofNetworks.delete(known.network);
    }
  }
}

/** An IPv6 address with its zone and port is shorter. */
const MAX_ADDRESS_LENGTH = 100;

const MAX_REMEMBERED = 1000;

/** Of one text, which a client sends with each request: parsing it each time would be 5 % of a short request. */
function remembering<Found>(find: (address: string) => Found): (address: string) => Found {
  const known = new Map<string, Found>();
  return (address) => {
    const before = known.get(address);
    if (before !== undefined) return before;
    const found = find(address);
    if (known.size >= MAX_REMEMBERED) known.clear();
    if (address.length <= MAX_ADDRESS_LENGTH) known.set(address, found);
    return found;
  };
}

const device = remembering((address) => findNetwork(address, 64));
const site = remembering((address) => findNetwork(address, 48));

/**
 * The network that counts as one client: an IPv4 address, or an IPv6 network. A device has a /64.
 * @param address any text
 * @param bits a site can have a /48, with 65,536 networks of 64 bits
 */
export function networkOf(address: string, bits: 48 | 64 = 64): string {
  return bits === 64 ? device(address) : site(address);
}

function findNetwork(address: string, bits: 48 | 64): string {
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const parts = parsed.parts.map((part, place) => (place < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}

/** An address, with or without a port, in canonical form; null for what is no address. */
export const canonicalAddressOf: (text: string) => string | null = remembering(
  (text) => parseAddress(text)?.toString() ?? null,
);

/** @returns null for what is no address */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null;
  const [, bracketed, withPort] = text.match(/^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/) ?? [];
  const bare = bracketed ?? withPort ?? text;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}
