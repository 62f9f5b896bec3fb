import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { WebhookEventType } from '@pasteflow/domain';
import {
  cancelJob,
  createJob,
  createWebhook,
  listDeliveriesTo,
  type WebhookDelivery,
} from '@pasteflow/postgres';
import { makeUsers } from '@pasteflow/postgres/testing';
import type { Overrides } from '../../src/compose.ts';
import { until, type Bench, type BenchWorker } from './bench.ts';

export const WEBHOOK_KEY = 'a key of at least thirty-two characters';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An endpoint with its receiver. */
interface Endpoint {
  readonly id: string;
  readonly url: string;
  /** Oldest first. */
  readonly received: readonly Received[];
}

/** Answers a request, at once or later; undefined: 204. */
type Answer = ((res: ServerResponse, req: IncomingMessage) => void) | undefined;

interface Listening {
  readonly userId?: string | null;
  readonly events?: readonly WebhookEventType[];
  readonly answer?: Answer;
}

/** What the tests of the sending of webhooks do: a real server receives, for each endpoint at a path of its own. */
export function useWebhooks(bench: Bench) {
  const endpoints = new Map<string, { received: Received[]; answer: Answer }>();
  const workers: BenchWorker[] = [];
  let server: Server;
  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeAll(async () => {
    server = createServer((req, res) => {
      void text(req).then((body) => {
        const endpoint = endpoints.get(req.url ?? '');
        endpoint?.received.push({ headers: req.headers, body });
        if (endpoint?.answer === undefined) res.writeHead(204).end();
        else endpoint.answer(res, req);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    server.closeAllConnections(); // also those that a test never answers
    // The endpoints of one test must not hear of the next. What still waits for them ends as off.
    await bench.db.deleteFrom('webhook_endpoints').execute();
    // The URL is a secret.
    for (const { log } of workers) expect(JSON.stringify(log.lines)).not.toMatch(/secret-path|127\.0\.0\.1:/);
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  return {
    newUser: async (): Promise<string> => (await makeUsers(bench.db, 1))[0]!.id,
    async listen({
      userId = bench.userId,
      events = ['job.ended'],
      answer,
    }: Listening = {}): Promise<Endpoint> {
      const path = `/secret-path/${endpoints.size}`;
      const received: Received[] = [];
      endpoints.set(path, { received, answer });
      const url = `${origin()}${path}`;
      const endpoint = await createWebhook(bench.db, { userId, url, events });
      if (endpoint === null) throw new Error('no endpoint');
      return { id: endpoint.id, url, received };
    },
    /** Makes an event: a job that is cancelled. @returns the id of the job */
    async endJob(userId = bench.userId): Promise<string> {
      const { id } = await createJob(bench.db, { userId, jobType: 'import', parameters: {} });
      await cancelJob(bench.db, { jobId: id, actor: 'api/test', by: 'its owner' });
      return id;
    },
    /** Starts a worker, which is stopped after the test at the latest. */
    async start(overrides: Overrides = {}, env: Record<string, string> = {}): Promise<BenchWorker> {
      const worker = await bench.start([], {
        env: { UPLOAD_WORKER_QUEUES: 'webhooks', WEBHOOK_KEY, WEBHOOK_ORIGINS: origin(), ...env },
        overrides: { webhooks: { pollMs: 50 }, ...overrides },
      });
      workers.push(worker);
      return worker;
    },
    /** Lets all attempts that wait be due. */
    async hurry(): Promise<void> {
      await bench.db
        .updateTable('task_executions')
        .set({ run_at: new Date(0) })
        .where('status', '=', 'PENDING')
        .execute();
    },
    /** The deliveries to an endpoint once `isSo` holds, oldest first. */
    async untilDeliveries(
      { id }: Pick<Endpoint, 'id'>,
      isSo: (deliveries: readonly WebhookDelivery[]) => boolean,
    ): Promise<readonly WebhookDelivery[]> {
      return await until(async () => {
        const { rows } = await listDeliveriesTo(bench.db, id, { limit: 200, after: null });
        return rows.toReversed();
      }, isSo);
    },
  };
}

/** For `untilDeliveries`: there are so many, and none waits. */
export const allEnded = (count: number) => (deliveries: readonly WebhookDelivery[]) =>
  deliveries.length === count && deliveries.every(({ status }) => status !== 'WAITING');
