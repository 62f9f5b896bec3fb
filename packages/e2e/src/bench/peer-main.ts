import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { s3ClientOf } from '../aws.ts';
import { PASTE_BYTES } from './load-job.ts';
import { graphileWorker, pgBoss, type Peer } from './peers.ts';

/**
 * Puts the contents of as many jobs as a worker puts pastes, from the queue of another library, on the same
 * Postgres and S3. Arguments: the library, the folder in which it is installed, database URL, endpoint,
 * bucket, count. The last line on stdout is the result in JSON.
 */
const [name = '', folder = '', databaseUrl = '', endpoint = '', bucket = '', count = '0'] =
  process.argv.slice(2);
const library: unknown = createRequire(join(folder, 'package.json'))(name);
const peer: Peer =
  name === 'pg-boss' ? await pgBoss(library, databaseUrl) : await graphileWorker(library, databaseUrl);
const client = s3ClientOf(endpoint);
const contents = Array.from({ length: Number(count) }, () => randomBytes(PASTE_BYTES / 2).toString('hex'));
await peer.fill(contents);
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await peer.work(contents.length, async (content) => {
  const Key = `bench/${randomBytes(8).toString('hex')}`;
  await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: content }));
});
const seconds = (performance.now() - startedAt) / 1000;
const cpu = process.cpuUsage(cpuBefore);
await peer.close();
client.destroy();
process.stdout.write(
  `${JSON.stringify({ perSecond: Number(count) / seconds, cpuMs: (cpu.user + cpu.system) / 1000 / Number(count) })}\n`,
);
