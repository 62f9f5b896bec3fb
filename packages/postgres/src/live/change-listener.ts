import { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { Client } from 'pg';
import { CHANGES_CHANNEL } from '../enforcement/machine-sql.ts';
import { toTypedError } from '../database/errors.ts';

/** Ids of pastes and jobs in which something has changed; `all`: any of them may have. */
export type Changes = readonly string[] | 'all';

export interface ChangeListenerOptions {
  readonly url: string;
  /** Shown by pg_stat_activity. */
  readonly applicationName: string;
  /** Told of what was committed, after the commit: whoever reads then sees it. */
  readonly onChanges: (changes: Changes) => void;
  /** From now on nothing is missed; what happened before is unknown. */
  readonly onListening: () => void;
  /** From now on changes are missed, and some may have been before. */
  readonly onLost: (error: unknown) => void;
  /** How often the connection is tried, in ms; 5 s unless told. A server that is gone without a word is noticed within twice that. */
  readonly keepAliveMs?: number;
}

const KEEP_ALIVE_MS = 5000;
/** For connecting, and for LISTEN. */
const BEGIN_TIMEOUT_MS = 5000;

/** A connection that ends well has closed within milliseconds. */
const CLOSE_MS = 500;

/** Hears what the recorder triggers say, on a connection of its own: one that a pool lends can't listen. */
export class ChangeListener {
  readonly #options: ChangeListenerOptions;
  #listening = false;

  constructor(options: ChangeListenerOptions) {
    this.#options = options;
  }

  get listening(): boolean {
    return this.#listening;
  }

  /**
   * Listens until the connection is lost or the signal fires; to listen again, call it again.
   * @throws DependencyUnavailableError when it could not begin to
   */
  async listen(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const socket = new Socket();
    const client = this.#newClient(socket);
    const ended = Promise.withResolvers<unknown>();
    const stop = (): void => ended.resolve(null);
    signal.addEventListener('abort', stop, { once: true });
    client.on('error', ended.resolve).on('end', () => ended.resolve(new Error('the connection was closed')));
    try {
      const begun = this.#begin(client, signal);
      begun.catch(() => {}); // when the signal was first, nobody waits for it
      await Promise.race([begun, ended.promise]);
      if (!this.#listening) return;
      const lost = await Promise.race([ended.promise, this.#failedKeepAlive(client, ended.promise)]);
      this.#listening = false;
      if (!signal.aborted) this.#options.onLost(toTypedError(lost));
    } finally {
      this.#listening = false;
      signal.removeEventListener('abort', stop);
      ended.resolve(null);
      await close(client, socket);
    }
  }

  #newClient(socket: Socket): Client {
    const { url, applicationName, onChanges } = this.#options;
    const client = new Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: BEGIN_TIMEOUT_MS,
      query_timeout: BEGIN_TIMEOUT_MS,
      keepAlive: true,
      stream: () => socket,
    });
    client.on('notification', ({ payload = '*' }) => {
      onChanges(payload === '*' || payload === '' ? 'all' : payload.split(','));
    });
    return client;
  }

  async #begin(client: Client, signal: AbortSignal): Promise<void> {
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANGES_CHANNEL}`);
    } catch (error) {
      throw toTypedError(error);
    }
    if (signal.aborted) return;
    this.#listening = true;
    this.#options.onListening();
  }

  /**
   * Resolves when Postgres no longer answers, or answers that this connection doesn't listen, as a pooler on the way does that has given it
   * to somebody else.
   */
  async #failedKeepAlive(client: Client, ended: Promise<unknown>): Promise<unknown> {
    const { keepAliveMs = KEEP_ALIVE_MS } = this.#options;
    const stopping = new AbortController();
    void ended.then(() => stopping.abort());
    const later = async (): Promise<void> => await wait(keepAliveMs, undefined, { signal: stopping.signal });
    try {
      for (;;) {
        await later();
        const answer = client.query<{ channel: string }>('SELECT pg_listening_channels() AS channel');
        const found = await Promise.race([answer, later()]);
        if (found === undefined) return unavailable(`no answer for ${keepAliveMs} ms`);
        if (!found.rows.some(({ channel }) => channel === CHANGES_CHANNEL))
          return unavailable('LISTEN has no effect');
      }
    } catch (error) {
      return error;
    }
  }
}

function unavailable(why: string): DependencyUnavailableError {
  return new DependencyUnavailableError('postgres', { cause: new Error(why) });
}

/** Politely, unless the other side doesn't answer any more. */
async function close(client: Client, socket: Socket): Promise<void> {
  client.on('error', () => {});
  const closing = new AbortController();
  const late = wait(CLOSE_MS, undefined, { signal: closing.signal }).catch(() => {});
  await Promise.race([client.end().catch(() => {}), late]);
  closing.abort();
  socket.destroy();
}
