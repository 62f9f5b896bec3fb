import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a receiver has seen of one event. */
export interface Received {
  readonly path: string;
  readonly eventId: string;
  requests: number;
  /** Requests that it has answered 2xx. */
  accepted: number;
}

/** Does with a request what the endpoint does. @returns whether the answer is 2xx */
type Behaviour = (response: ServerResponse, random: number) => boolean | Promise<boolean>;

const HUGE_BYTES = 10 * 1024 * 1024;

const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}, body: string | Buffer = ''): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end(body);
    return status < 300;
  };

const refuse: Behaviour = answer(500);
const breakOff: Behaviour = (response) => {
  response.socket?.destroy();
  return false;
};

/** How often, among a thousand requests, an endpoint does what. Otherwise, it takes the event. */
const behaviours: readonly (readonly [share: number, behaviour: Behaviour])[] = [
  [4, () => false], // never: the worker gives up after 15 s
  [10, answer(302, { location: '/redirected' })],
  [10, answer(200, {}, Buffer.alloc(HUGE_BYTES))],
  [20, refuse],
  [20, answer(503, { 'retry-after': '1' })],
  [10, breakOff],
  [10, answer(200, { 'content-length': '1000' }, 'short')],
  [
    10,
    (response) => {
      response.socket?.end('this is no HTTP\r\n\r\n');
      return false;
    },
  ],
  [
    30,
    async (response, random) => {
      await sleep(500 + 3000 * random);
      response.writeHead(200).end();
      return !response.destroyed;
    },
  ],
];

function behaviourOf(share: number): Behaviour {
  let left = share;
  for (const [of, behaviour] of behaviours) {
    left -= of;
    if (left < 0) return behaviour;
  }
  return answer(204);
}

/** The paths of three endpoints: one takes most events, one takes none, and one is soon gone for ever. */
export const PATHS = ['/mixed', '/refuses', '/gone'] as const;
const GONE_AFTER = 3;

/** Endpoints of webhooks, in this process, which behave badly, and record every request. */
export class Receivers {
  readonly received = new Map<string, Received>();
  /** The secrets of the endpoints, by their paths. */
  readonly secrets = new Map<string, string>();
  readonly problems: string[] = [];
  readonly #server: Server;
  readonly #seed: number;
  #requestsWhenGone = 0;

  private constructor(seed: number) {
    this.#seed = seed;
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async start(seed: number): Promise<Receivers> {
    const receivers = new Receivers(seed);
    receivers.#server.listen(0, '127.0.0.1');
    await once(receivers.#server, 'listening');
    return receivers;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  of(path: string, eventId: string): Received {
    const key = `${path} ${eventId}`;
    const known = this.received.get(key) ?? { path, eventId, requests: 0, accepted: 0 };
    this.received.set(key, known);
    return known;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '', headers } = request;
    const eventId = String(headers['webhook-id']);
    response.on('error', () => {}); // the worker was killed
    const body = await request.toArray().catch(() => null);
    if (body === null) return; // it was killed while it sent the request
    const wrong = this.#problemOf(path, headers, Buffer.concat(body as Buffer[]).toString());
    if (wrong !== null) this.problems.push(`the endpoint ${path} was sent ${eventId} ${wrong}`);
    const seen = this.of(path, eventId);
    seen.requests += 1;
    const random = createHash('sha256').update(`${this.#seed} ${path} ${eventId} ${seen.requests}`).digest();
    const behaviour = this.#behaviour(path, random.readUInt16BE(0) % 1000);
    if (await behaviour(response, random.readUInt16BE(2) / 0xff_ff)) seen.accepted += 1;
  }

  #behaviour(path: string, share: number): Behaviour {
    if (path === '/mixed') return behaviourOf(share);
    if (path === '/refuses') return share < 500 ? refuse : breakOff;
    this.#requestsWhenGone += 1;
    return answer(this.#requestsWhenGone > GONE_AFTER ? 410 : 204);
  }

  /** The rules of Standard Webhooks 1.0, and what a body may say. */
  #problemOf(path: string, headers: IncomingMessage['headers'], body: string): string | null {
    const secret = this.secrets.get(path);
    if (secret === undefined) return 'although that is no endpoint';
    const [id, timestamp] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    if (headers['webhook-signature'] !== `v1,${expected}`) return 'with a wrong signature';
    const { type, timestamp: at, data, ...more } = JSON.parse(body) as Record<string, unknown>;
    const isWhole = typeof type === 'string' && !Number.isNaN(Date.parse(String(at)));
    const names = Object.keys(data as object);
    return isWhole && names.length === 1 && Object.keys(more).length === 0 ? null : `with the body ${body}`;
  }
}
