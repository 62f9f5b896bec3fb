import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { figure, type Figure } from './figure.ts';
import { cpuByPart, type BenchCluster } from './processes.ts';

const ENTRY = fileURLToPath(new URL('peer-main.ts', import.meta.url));

/**
 * How fast a process with another library settles jobs that do the same puts. Libraries that are not
 * installed in the folder are left out.
 */
export async function measurePeers(cluster: BenchCluster, folder: string, count: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of ['graphile-worker', 'pg-boss']) {
    if (existsSync(join(folder, 'node_modules', name)))
      figures.push(...(await measure(cluster, { name, folder, count })));
  }
  return figures;
}

async function measure(
  cluster: BenchCluster,
  { name, folder, count }: { name: string; folder: string; count: number },
): Promise<Figure[]> {
  const { s3: endpoint, bucket } = cluster.stack.aws;
  const before = await cpuByPart(cluster);
  const peer = spawnService({
    entry: ENTRY,
    args: [name, folder, cluster.stack.databaseUrl, endpoint, bucket, String(count)],
    name,
  });
  const { code } = await peer.exited;
  if (code !== 0) throw new Error(`${name} ended with ${code}:\n${peer.stderr.join('\n')}`);
  const after = await cpuByPart(cluster);
  const { perSecond, cpuMs } = JSON.parse(peer.stdout.at(-1) ?? '{}') as { perSecond: number; cpuMs: number };
  return [
    figure(`${name}: jobs settled a second`, perSecond, '1/s'),
    figure(`CPU of a job of ${name}: its process`, cpuMs, 'ms'),
    figure(`CPU of a job of ${name}: postgres`, (1000 * (after.postgres - before.postgres)) / count, 'ms'),
  ];
}
