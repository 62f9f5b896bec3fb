import { setTimeout as sleep } from 'node:timers/promises';
import { figure, type Figure } from './figure.ts';
import { createAndSettle } from './measure-creates.ts';
import { type BenchCluster, restart } from './processes.ts';

/** The messages of the last pastes are acknowledged after the pastes are stored. */
const ACKNOWLEDGING_MS = 1000;

/**
 * The requests to S3 and SQS, counted by proxies. A proxy costs CPU time, so these services serve no other
 * measurement.
 */
export async function measureRequests(cluster: BenchCluster, count: number): Promise<Figure[]> {
  const counted = { AWS_ENDPOINT_URL_S3: cluster.s3.url, AWS_ENDPOINT_URL_SQS: cluster.sqs.url };
  await restart([...cluster.apis, ...cluster.workers], counted);
  await createAndSettle(cluster, 100);
  const [s3Before, sqsBefore] = [cluster.s3.requests.length, cluster.sqs.requests.length];
  await createAndSettle(cluster, count);
  await sleep(ACKNOWLEDGING_MS);
  const sqs = cluster.sqs.requests.slice(sqsBefore);
  const ofSqs = (name: string, target: RegExp): Figure =>
    figure(
      `SQS requests of a create: ${name}`,
      sqs.filter((request) => target.test(request.target ?? '')).length / count,
      '',
    );
  return [
    figure('S3 requests of a create', (cluster.s3.requests.length - s3Before) / count, ''),
    figure('SQS requests of a create', sqs.length / count, ''),
    ofSqs('send', /SendMessage/),
    ofSqs('receive', /ReceiveMessage/),
    ofSqs('delete', /DeleteMessage/),
  ];
}
