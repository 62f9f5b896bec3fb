import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';
import { QUEUES } from '../queues.ts';
import type { StackProcess } from '../stacks.ts';
import { memoryOf } from '../usage.ts';
import type { Debugger } from './debugger.ts';
import type { Reading } from './slope.ts';

const MIB = 1024 * 1024;

/** The audit trail is kept for seven days at least, so that its tables grow. */
const KEPT = /^state_transitions/;

/**
 * What is flat in a steady state. The noise of a measure is what the load, the garbage collector and
 * autovacuum move within a minute.
 * @param perMinute the pastes that are created in a minute
 */
export async function readMeasures(
  cluster: Cluster<StackProcess>,
  debuggers: readonly Debugger[],
  perMinute: number,
): Promise<Reading> {
  const measures = new Map<string, { value: number; noise: number }>();
  const add = (name: string, value: number, noise: number) => measures.set(name, { value, noise });
  const liveBytes = await Promise.all(debuggers.map((each) => each.liveBytes()));
  for (const [index, { name, pid }] of cluster.services.entries()) {
    add(`${name}: live heap, bytes`, liveBytes[index] ?? NaN, 2 * MIB);
    await addProcess(name, pid);
  }
  await addProcess('stack', cluster.stack.pid);
  add(
    'postgres: own memory of a process, bytes',
    await ownMemoryOf(await cluster.stack.postmasterPid()),
    4 * MIB,
  );
  await addTables();
  for (const queue of QUEUES) {
    const { visible, hidden } = await cluster.queues.counts(queue);
    add(`queue ${queue}: messages`, visible + hidden, perMinute / 4);
  }
  const sizes = [...(await cluster.bucket.sizes()).values()];
  add('S3: objects', sizes.length, perMinute / 4);
  add('S3: folder, bytes', await folderBytes(join(cluster.stack.dataDir, 'aws')), 8 * MIB);
  return { atMs: performance.now(), measures };

  async function addProcess(name: string, pid: number): Promise<void> {
    add(`${name}: memory, bytes`, (await memoryOf(pid)).present, 24 * MIB);
    add(`${name}: open files`, (await readdir(`/proc/${pid}/fd`)).length, 20);
  }

  async function addTables(): Promise<void> {
    const tables = await cluster.rows.query<{ name: string; bytes: number; dead: number; inserted: number }>(
      `SELECT relname AS name, pg_total_relation_size(relid)::float8 AS bytes, n_dead_tup::float8 AS dead,
         n_tup_ins::float8 AS inserted FROM pg_stat_user_tables`,
    );
    const kept = tables.filter(({ name }) => KEPT.test(name));
    const inserted = kept.reduce((sum, table) => sum + table.inserted, 0);
    add('audit trail: bytes a row', kept.reduce((sum, { bytes }) => sum + bytes, 0) / inserted, 20);
    const others = tables.filter(({ name }) => !KEPT.test(name));
    const counts = others.map(
      ({ name }) => `SELECT '${name}' AS name, count(*)::float8 AS count FROM ${name}`,
    );
    const rows = await cluster.rows.query<{ name: string; count: number }>(counts.join(' UNION ALL '));
    for (const { name, count } of rows) add(`${name}: rows`, count, perMinute / 2);
    for (const { name, bytes } of others) add(`${name}: size, bytes`, bytes, MIB);
    add(
      'all tables: dead rows',
      tables.reduce((sum, { dead }) => sum + dead, 0),
      perMinute * 10,
    );
  }
}

/** What a process of Postgres holds beside the memory that all share, on average: their number varies. */
async function ownMemoryOf(postmaster: number): Promise<number> {
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  const statuses = children
    .split(' ')
    .filter(Boolean)
    .map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));
  const kilobytes = (await Promise.all(statuses)).flatMap((status) => {
    const [, own] = /^RssAnon:\s*(\d+)/m.exec(status) ?? [];
    return own === undefined ? [] : Number(own);
  });
  return (kilobytes.reduce((sum, each) => sum + each, 0) * 1024) / kilobytes.length;
}

async function folderBytes(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    files.map((file) =>
      stat(join(folder, file)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
