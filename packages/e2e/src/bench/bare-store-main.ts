import { randomBytes } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { s3ClientOf } from '../aws.ts';
import { PASTE_BYTES } from './load-job.ts';

/**
 * Puts of the bare S3 client, forty at a time, as one upload-worker makes them. Arguments: endpoint, bucket,
 * count.
 */
const [endpoint = '', bucket = '', count = '0'] = process.argv.slice(2);
const client = s3ClientOf(endpoint);
const LANES = 40;
/** Uncounted: a process compiles its hot code in its first requests. */
const WARMING_PUTS = 1000;

async function put(total: number): Promise<void> {
  let left = total;
  const lane = async (): Promise<void> => {
    while (left-- > 0)
      await client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: `bench/${left}-${randomBytes(4).toString('hex')}`,
          Body: randomBytes(PASTE_BYTES),
        }),
      );
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

await put(WARMING_PUTS);
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await put(Number(count));
const seconds = (performance.now() - startedAt) / 1000;
const cpu = process.cpuUsage(cpuBefore);
client.destroy();
process.stdout.write(
  `${JSON.stringify({ perSecond: Number(count) / seconds, cpuMs: (cpu.user + cpu.system) / 1000 / Number(count) })}\n`,
);
