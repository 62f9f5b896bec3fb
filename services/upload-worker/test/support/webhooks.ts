import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';
import type { WebhookEventType } from '@pasteflow/domain';
import {
  cancelJob,
  createJob,
  createWebhook,
  listDeliveriesTo,
  type WebhookDelivery,
} from '@pasteflow/postgres';
import type { Bench, BenchWorker } from './bench.ts';
import { until } from './bench.ts';
import type { Overrides } from '../../src/compose.ts';

export const WEBHOOK_KEY = 'a key of at least thirty-two characters';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real server that notes what it receives. */
export interface Receiver {
  readonly origin: string;
  readonly received: Received[];
}

type Listening = Pick<Server, 'close'> & { readonly closeAllConnections?: () => void };

/** What the tests of the sending of webhooks do. */
export function useWebhooks(bench: Bench) {
  const open = new Set<() => Promise<void>>();
  afterEach(async () => {
    await Promise.all([...open].map((close) => close()));
    open.clear();
    // The endpoints of one test must not hear of the next.
    await bench.db.deleteFrom('webhook_deliveries').execute();
    await bench.db.deleteFrom('webhook_endpoints').execute();
  });

  const closing = (server: Listening): void =>
    void open.add(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections?.();
        }),
    );

  return {
    /** Answers 204 unless `answer` says more. */
    async receive(answer: RequestListener = (_, res) => void res.writeHead(204).end()): Promise<Receiver> {
      const received: Received[] = [];
      const server = createServer((req, res) => {
        void text(req).then((body) => {
          received.push({ path: req.url ?? '', headers: req.headers, body });
          answer(req, res);
        });
      });
      closing(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      return { origin: `http://127.0.0.1:${port}`, received };
    },
    async listen(
      url: string,
      userId: string | null = bench.userId,
      events: readonly WebhookEventType[] = ['job.ended'],
    ): Promise<string> {
      const endpoint = await createWebhook(bench.db, { userId, url, events });
      if (endpoint === null) throw new Error('no endpoint');
      return endpoint.id;
    },
    /** Makes an event: a job that is cancelled. @returns the id of the job */
    async endJob(userId = bench.userId): Promise<string> {
      const { id } = await createJob(bench.db, { userId, jobType: 'import', parameters: {} });
      await cancelJob(bench.db, { jobId: id, actor: 'api/test', by: 'its owner' });
      return id;
    },
    /** A worker that sends to these origins. */
    start(
      origins: readonly string[],
      { env = {}, ...overrides }: Overrides & { readonly env?: Record<string, string> } = {},
    ): Promise<BenchWorker> {
      return bench.start([], {
        env: { UPLOAD_WORKER_QUEUES: 'webhooks', WEBHOOK_KEY, WEBHOOK_ORIGINS: origins.join(','), ...env },
        overrides,
      });
    },
    /** The deliveries to an endpoint once `isSo` holds, oldest first. */
    async untilDeliveries(
      endpointId: string,
      isSo: (deliveries: readonly WebhookDelivery[]) => boolean,
    ): Promise<readonly WebhookDelivery[]> {
      return await until(async () => {
        const { rows } = await listDeliveriesTo(bench.db, endpointId, { limit: 200, after: null });
        return rows.toReversed();
      }, isSo);
    },
  };
}
