import { fileURLToPath } from 'node:url';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { computed } from '../usage.ts';
import { figure, type Figure } from './figure.ts';
import { makeLoad } from './make-load.ts';
import { cpuByPart, type BenchCluster } from './processes.ts';

const entry = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const POST = ['POST', 'create'] as const;
const READS = [
  ['GET', 'read'],
  ['304', 'revalidate'],
] as const;

/**
 * What the same requests cost without the service: bare Express, the bare S3 client, a bare INSERT of the
 * bytes.
 * @param onlyCreates whether to leave out those of reads
 */
export async function measureControls(
  cluster: BenchCluster,
  count: number,
  { onlyCreates = false } = {},
): Promise<Figure[]> {
  return [
    ...(await bareExpress(count, onlyCreates ? [POST] : [POST, ...READS])),
    ...(await bareStore(cluster, count)),
    await bareInsert(cluster, count),
  ];
}

async function bareExpress(
  count: number,
  requests: readonly (typeof POST | (typeof READS)[number])[],
): Promise<Figure[]> {
  const server = spawnService({ entry: entry('bare-express-main.ts'), name: 'bare Express' });
  try {
    const [, port] = await server.waitFor(/listening on (\d+)/);
    const figures: Figure[] = [];
    for (const [name, kind] of requests) {
      const job = { baseUrl: `http://127.0.0.1:${port}`, kind, paths: ['/content'] };
      await makeLoad({ ...job, count: 1000 });
      const before = await computed([server.pid]);
      const { seconds } = await makeLoad({ ...job, count });
      const cpu = (await computed([server.pid])) - before;
      figures.push(
        figure(`bare Express: ${name}s a second`, count / seconds, '1/s'),
        figure(`bare Express: CPU of a ${name}`, (1000 * cpu) / count, 'ms'),
      );
    }
    return figures;
  } finally {
    await server.stop();
  }
}

async function bareStore(cluster: BenchCluster, count: number): Promise<Figure[]> {
  const { s3: endpoint, bucket } = cluster.stack.aws;
  const client = spawnService({
    entry: entry('bare-store-main.ts'),
    args: [endpoint, bucket, String(count)],
    name: 'bare S3 client',
  });
  await client.exited;
  const { perSecond, cpuMs } = JSON.parse(client.stdout.at(-1) ?? '{}') as {
    perSecond: number;
    cpuMs: number;
  };
  return [
    figure('bare S3 client: puts a second', perSecond, '1/s'),
    figure('bare S3 client: CPU of a put', cpuMs, 'ms'),
  ];
}

async function bareInsert(cluster: BenchCluster, count: number): Promise<Figure> {
  const before = await cpuByPart(cluster);
  await spawnService({
    entry: entry('bare-insert-main.ts'),
    args: [cluster.stack.databaseUrl, String(count)],
    name: 'bare INSERT',
  }).exited;
  const after = await cpuByPart(cluster);
  return figure('bare INSERT: CPU of Postgres', (1000 * (after.postgres - before.postgres)) / count, 'ms');
}
