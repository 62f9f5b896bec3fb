import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { until } from '@pasteflow/dev-stack/testing';
import type { Database } from '@pasteflow/postgres';
import { Metrics, tracingOff } from '@pasteflow/runtime';
import { composeSweeps } from '../../src/compose.ts';
import { loadJanitorConfig } from '../../src/config.ts';
import { OperationsServer } from '../../src/operations/page/operations-server.ts';
import { createWorld, type World } from '../world.ts';

export const TOKEN = 'the-token-of-operators';
export const READ_TOKEN = 'the-token-of-readers';

interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Call {
  readonly method?: string;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>> | URLSearchParams;
}

export interface OpenPage {
  readonly port: number;
  readonly origin: string;
  readonly metrics: Metrics;
  /** As a browser with the token of operators asks, from the page itself. */
  call(path: string, call?: Call): Promise<PageAnswer>;
  /**
   * Sends the form of the confirming step, and follows its answer until the action has ended.
   * @returns the outcome
   */
  act(
    action: string,
    subject: string | null,
    form?: Readonly<Record<string, string>> | URLSearchParams,
  ): Promise<string>;
  stop(): Promise<void>;
}

/** The world of a test file, which is emptied before each test, and its operations page. */
export function useWorldWithPage(): { readonly world: World; readonly page: OpenPage } {
  const [world, page] = [{} as World, {} as OpenPage];
  beforeAll(async () => {
    Object.assign(world, await createWorld());
    Object.assign(page, await openPage(world));
  });
  afterAll(async () => {
    await page.stop();
    await world.stop();
  });
  beforeEach(() => world.reset());
  return { world, page };
}

/** The operations page with real sweeps, on a free port. */
export async function openPage(
  world: World,
  env: Readonly<Record<string, string>> = {},
  watch: (db: Database) => Database = (db) => db,
): Promise<OpenPage> {
  const tokens = { OPS_TOKEN: TOKEN, OPS_READ_TOKEN: READ_TOKEN };
  const config = loadJanitorConfig({ ...world.env, OPS_PORT: '0', ...tokens, ...env });
  const metrics = new Metrics('janitor', { process: false });
  const composed = composeSweeps(
    { name: 'janitor', config, instance: 'janitor/test', logger: world.log, tracing: tracingOff },
    metrics,
  );
  const operations = { ...composed.operations, db: watch(composed.operations.db) };
  const { minutes } = composed;
  const server = new OperationsServer(config.operations!, operations, {
    minutes,
    logger: world.log,
    metrics,
  });
  await server.start();
  const listening = world.log.lines.findLast(({ message }) => message === 'operations page listens');
  const port = Number(listening?.fields?.port);
  const origin = `http://127.0.0.1:${port}`;

  const call = async (path: string, { method = 'GET', token = TOKEN, headers = {}, form }: Call = {}) => {
    const isWrite = form !== undefined;
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      method: isWrite ? 'POST' : method,
      headers: {
        ...(token !== null && { authorization: `Basic ${Buffer.from(`alice:${token}`).toString('base64')}` }),
        ...(isWrite && {
          origin,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        }),
        ...headers,
      },
    });
    sent.end(isWrite ? new URLSearchParams(form).toString() : undefined);
    return await new Promise<PageAnswer>((resolve, reject) => {
      sent.once('error', reject).once('response', (response) => {
        text(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          reject,
        );
      });
    });
  };

  return {
    port,
    origin,
    metrics,
    call,
    act: async (action, subject, form = {}) => {
      const given = new URLSearchParams(form);
      const meant = { ...(subject !== null && { subject }), count: '1', reason: 'report 4711' };
      for (const [name, value] of Object.entries(meant)) if (!given.has(name)) given.set(name, value);
      const answer = await call(`/act/${action}`, { form: given });
      if (answer.status !== 303) throw new Error(`${answer.status}: ${answer.body}`);
      const look = async (): Promise<string> => {
        const { body } = await call(String(answer.headers.location));
        return /<p class="meant" role="status">([^<]*)</.exec(body)?.[1] ?? '';
      };
      return await until(look, (outcome) => !outcome.startsWith('This is still running'));
    },
    stop: async () => {
      await server.stop();
      await composed.close();
    },
  };
}
