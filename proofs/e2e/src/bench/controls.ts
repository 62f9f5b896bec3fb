import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { cpuSecondsOf } from '../usage.ts';
import { measureCosts, type BenchCluster } from './costs.ts';
import { createOf, makeLoad, randomContent } from './load.ts';

/** The CPU time in ms of what a create needs at least, without the services. */
export interface Controls {
  /** A POST to bare Express. */
  readonly post: number;
  /** A put of the bare S3 client. */
  readonly put: number;
  /** Of Postgres, for an INSERT of the bytes into a table without indexes. */
  readonly insert: number;
}

export async function measureControls(cluster: BenchCluster, count: number): Promise<Controls> {
  return {
    post: await measurePosts(count),
    put: await measurePuts(cluster, count),
    insert: await measureInserts(cluster, count),
  };
}

const entry = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

async function measurePosts(count: number): Promise<number> {
  const server = spawnService({ entry: entry('bare-express-main.ts'), name: 'bare Express' });
  try {
    const [, port] = await server.waitFor(/listening on (\d+)/);
    const post = async (posts: number): Promise<number> => {
      const requestOf = createOf(randomContent);
      await makeLoad(`http://127.0.0.1:${port}`, { count: posts, requestOf, expected: 201 });
      return await cpuSecondsOf([server.pid]);
    };
    const before = await post(1000); // a process compiles its hot code in its first requests
    return (1000 * ((await post(count)) - before)) / count;
  } finally {
    await server.stop();
  }
}

async function measurePuts(cluster: BenchCluster, count: number): Promise<number> {
  const { s3, bucket } = cluster.stack.aws;
  const args = [s3, bucket, String(count)];
  const client = spawnService({ entry: entry('bare-store-main.ts'), args, name: 'bare S3 client' });
  const [, ms] = await client.waitFor(/^([\d.]+) ms$/);
  await client.exited;
  return Number(ms);
}

const CONNECTIONS = 10;

async function measureInserts(cluster: BenchCluster, count: number): Promise<number> {
  const pool = new Pool({ connectionString: cluster.stack.databaseUrl, max: CONNECTIONS });
  const insert = async (): Promise<void> => {
    await pool.query('CREATE TABLE bench_control (id bigserial, content bytea)');
    let left = count;
    const lane = async (): Promise<void> => {
      while (left-- > 0)
        await pool.query('INSERT INTO bench_control (content) VALUES ($1)', [randomContent()]);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
    await pool.query('DROP TABLE bench_control');
    await pool.end();
  };
  const { costs } = await measureCosts(cluster, count, insert);
  return costs.postgres;
}
