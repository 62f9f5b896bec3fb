import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { ChangeListener, createDatabase } from '../../src/index.ts';
import { until } from '../support/until.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

interface Heard {
  readonly events: string[];
  readonly listener: ChangeListener;
  readonly session: Promise<string>;
  readonly stop: () => Promise<void>;
}

const sessions: Heard[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.stop();
});

/** One session of a listener; `session` says how it ended. */
function listen({ url = current.url, keepAliveMs }: { url?: string; keepAliveMs?: number } = {}): Heard {
  const events: string[] = [];
  const listener = new ChangeListener({
    url,
    applicationName: 'test live',
    ...(keepAliveMs !== undefined && { keepAliveMs }),
    onChanges: (changes) => events.push(changes === 'all' ? 'all' : changes.join('+')),
    onListening: () => events.push('listening'),
    onLost: (error) =>
      events.push(`lost: ${(error as Error).name}: ${((error as Error).cause as Error).message}`),
  });
  const stopping = new AbortController();
  const session = listener.listen(stopping.signal).then(
    () => 'ended',
    (error: Error) => `failed: ${error.name}`,
  );
  const heard: Heard = {
    events,
    listener,
    session,
    stop: async () => {
      stopping.abort();
      await session;
    },
  };
  sessions.push(heard);
  return heard;
}

const notify = (payload: string) =>
  sql`SELECT pg_notify('pasteflow_changes', ${payload})`.execute(current.db);
const others = () =>
  sql<{ pid: number }>`SELECT pid FROM pg_stat_activity WHERE application_name = 'test live'`.execute(
    current.db,
  );

describe('a listener', () => {
  it('is told of ids, of a star, and of nothing after its stop, which closes its connection', async () => {
    const { events, listener, session, stop } = listen();
    await until(() => listener.listening);
    await notify('a,b');
    await notify('*');
    await until(() => events.length === 3);
    expect(events).toEqual(['listening', 'a+b', 'all']);
    await stop();
    expect([await session, listener.listening]).toEqual(['ended', false]);
    await until(async () => (await others()).rows.length === 0);
    await notify('c');
    expect(events).toHaveLength(3); // a stop is no loss
  });

  it('knows at once that its connection was ended by the server', async () => {
    const { events, listener, session } = listen();
    await until(() => listener.listening);
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test live'`.execute(
      current.db,
    );
    expect(await session).toBe('ended');
    expect(events).toEqual(['listening', expect.stringMatching(/^lost: DependencyUnavailableError: /)]);
  });

  it('notices that nobody answers any more, though the connection stands', async () => {
    const proxy = await startFreezingProxy();
    const { events, listener, session } = listen({ url: proxy.url, keepAliveMs: 50 });
    await until(() => listener.listening);
    proxy.freeze();
    expect(await session).toBe('ended');
    expect(events).toEqual(['listening', 'lost: DependencyUnavailableError: no answer for 50 ms']);
    await proxy.stop();
  });

  it('notices that it does not listen, as behind a pooler that gives connections away', async () => {
    const proxy = await startFreezingProxy((bytes) =>
      Buffer.from(
        bytes.toString('latin1').replace('LISTEN pasteflow_changes', 'LISTEN pasteflow_chatter'),
        'latin1',
      ),
    );
    const { events, session } = listen({ url: proxy.url, keepAliveMs: 1000 });
    expect(await session).toBe('ended');
    expect(events).toEqual(['listening', 'lost: DependencyUnavailableError: LISTEN has no effect']);
    await proxy.stop();
  });

  it('fails when it cannot connect, and can be stopped while it tries', async () => {
    const proxy = await startFreezingProxy();
    proxy.freeze();
    const waiting = listen({ url: proxy.url });
    await until(() => proxy.connections === 1);
    await waiting.stop();
    expect(await waiting.session).toBe('ended');
    await proxy.stop();
    const { session, events } = listen({ url: proxy.url });
    expect(await session).toBe('failed: DependencyUnavailableError');
    expect(events).toEqual([]);
  });

  it('uses none of the connections of a pool', async () => {
    const db = createDatabase({
      url: current.url,
      applicationName: 'test pool',
      maxConnections: 1,
      onConnectionError: () => {},
    });
    const { listener } = listen();
    await until(() => listener.listening);
    expect((await sql<{ one: number }>`SELECT 1 AS one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await db.destroy();
  });
});

/** Stands before Postgres; frozen, it keeps its connections and passes nothing on. */
async function startFreezingProxy(rewrite: (bytes: Buffer) => Buffer = (bytes) => bytes) {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(current.stack.postgres.port, '127.0.0.1');
    client.on('data', (bytes: Buffer) => isFrozen || upstream.write(rewrite(bytes)));
    upstream.on('data', (bytes: Buffer) => isFrozen || client.write(bytes));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(current.url);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    get connections() {
      return connections;
    },
    freeze: () => {
      isFrozen = true;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
