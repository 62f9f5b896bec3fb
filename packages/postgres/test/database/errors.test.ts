import { rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { sql } from 'kysely';
import { toTypedError } from '../../src/database/errors.ts';
import { pingDatabase } from '../../src/index.ts';
import { open, useOwnServer } from '../support/database.ts';

const current = useOwnServer({ fresh: 'file' });

const errorWith = (code: string | undefined, message = 'an error') =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

describe('an error of a statement', () => {
  it.each([
    ['08000 connection_exception', '08000'],
    ['08006 connection_failure', '08006'],
    ['08P01, with which PgBouncer reports query_wait_timeout and a server that refuses the login', '08P01'],
    ['40001 serialization_failure', '40001'],
    ['40P01 deadlock_detected', '40P01'],
    ['53100 disk_full', '53100'],
    ['53300 too_many_connections', '53300'],
    ['57000 operator_intervention', '57000'],
    ['57014 query_canceled', '57014'],
    ['57P01 admin_shutdown', '57P01'],
    ['57P02 crash_shutdown', '57P02'],
    ['57P03 cannot_connect_now', '57P03'],
    ['57P05 idle_session_timeout', '57P05'],
    ['58000 system_error', '58000'],
    ['58030 io_error', '58030'],
    ['58P01 undefined_file', '58P01'],
    ['25P03 idle_in_transaction_session_timeout', '25P03'],
    ['25P04 transaction_timeout', '25P04'],
    ['25006 read_only_sql_transaction', '25006'],
    ['55P03 lock_not_available', '55P03'],
    ...[
      'ECONNREFUSED',
      'ECONNRESET',
      'ECONNABORTED',
      'EPIPE',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'EHOSTDOWN',
      'ENETUNREACH',
      'ENETDOWN',
      'ENOTFOUND',
      'EAI_AGAIN',
      'EPROTO',
      'EMFILE',
      'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
      'ERR_STREAM_DESTROYED',
      'ERR_SOCKET_CLOSED',
    ].map((code): [string, string] => [code, code]),
  ])('%s says that Postgres is unavailable', (_, code) => {
    const error = errorWith(code);
    expect(toTypedError(error)).toBeInstanceOf(DependencyUnavailableError);
    expect(toTypedError(error)).toMatchObject({ dependency: 'postgres', cause: error });
  });

  it.each([
    'Connection terminated unexpectedly',
    'Client was closed and is not queryable',
    'Client has encountered a connection error and is not queryable',
    'Received unexpected commandComplete message from backend.',
    'received invalid response: 4a',
    'Query read timeout',
  ])('without a code, "%s" says that Postgres is unavailable', (message) => {
    expect(toTypedError(errorWith(undefined, message))).toBeInstanceOf(DependencyUnavailableError);
  });

  it.each([
    '23505',
    '22P02',
    '42601',
    '42P01',
    '0A000',
    'P0001',
    'XX000',
    'XX001',
    'XX002',
    'ERR_INVALID_ARG_TYPE',
    undefined,
  ])('with the code %s stays what it is: a defect', (code) => {
    const error = errorWith(code);
    expect(toTypedError(error)).toBe(error);
  });

  it('says that Postgres is unavailable when a file of the server is gone', async () => {
    const { rows } = await sql<{ file: string }>`
      SELECT current_setting('data_directory') || '/' || pg_relation_filepath('users') AS file`.execute(
      current.db,
    );
    await sql`CHECKPOINT`.execute(current.db);
    await rm(rows[0]!.file);
    const db = open(current.url, 1);
    const read = sql`SELECT FROM users`.execute(db);
    await expect(read).rejects.toMatchObject({ dependency: 'postgres', cause: { code: '58P01' } });
    await db.destroy();
  });
});

describe('an error of a connection', () => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(current.url);
    change(url);
    return url.href;
  };
  const causes: Readonly<Record<string, () => string>> = {
    'a wrong password': () => changed((url) => (url.password = 'wrong')),
    'a database that does not exist': () => changed((url) => (url.pathname = '/other')),
    'TLS, which the server does not speak': () =>
      changed((url) => url.searchParams.set('sslmode', 'verify-full')),
    'a name without an address': () => changed((url) => (url.hostname = 'postgres.invalid')),
    'a missing certificate': () =>
      changed((url) => url.searchParams.set('sslrootcert', join(import.meta.dirname, 'missing.crt'))),
  };

  it.each(Object.keys(causes))('says that Postgres is unavailable: %s', async (name) => {
    const db = open(causes[name]!(), 1);
    await expect(pingDatabase(db)).rejects.toBeInstanceOf(DependencyUnavailableError);
    await db.destroy();
  });

  it('says that Postgres is unavailable: a server that answers with something else', async () => {
    const server = createServer((socket) =>
      socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const db = open(
      changed((url) => (url.port = String(port))),
      1,
    );
    await expect(pingDatabase(db)).rejects.toBeInstanceOf(DependencyUnavailableError);
    await db.destroy();
    server.close();
  });
});
