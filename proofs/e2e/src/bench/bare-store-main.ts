import { randomUUID } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { s3ClientOf } from '../aws.ts';
import { randomContent } from './load.ts';

/**
 * Puts of the bare S3 client, forty at a time, as one upload-worker makes them. Arguments: endpoint, bucket,
 * count. Prints the CPU time of a put.
 */
const [endpoint = '', Bucket = '', count = '0'] = process.argv.slice(2);
const client = s3ClientOf(endpoint);
const LANES = 40;

async function put(total: number): Promise<void> {
  let left = total;
  const lane = async (): Promise<void> => {
    while (left-- > 0)
      await client.send(
        new PutObjectCommand({ Bucket, Key: `bench/${randomUUID()}`, Body: randomContent() }),
      );
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

await put(1000); // uncounted: a process compiles its hot code in its first requests
const before = process.cpuUsage();
await put(Number(count));
const { user, system } = process.cpuUsage(before);
client.destroy();
process.stdout.write(`${(user + system) / 1000 / Number(count)} ms\n`);
