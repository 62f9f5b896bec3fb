// Apart from any-server.servers.ts, because neither ElasticMQ nor the emulator looks at signatures.
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from '@jest/globals';

/* oxlint-disable node/no-process-env -- select the server */
const endpoint = process.env.AWS_ENDPOINT_URL_SQS || process.env.AWS_ENDPOINT_URL || undefined;
const region = process.env.AWS_REGION || 'us-east-1';
/* oxlint-enable node/no-process-env */

it('a wrong secret is refused', async () => {
  const credentials = { accessKeyId: 'pasteflow', secretAccessKey: 'no such secret' };
  const client = new SQSClient({
    region,
    ...(endpoint !== undefined && { endpoint }),
    credentials,
    maxAttempts: 1,
  });
  const outcome = await client.send(new ListQueuesCommand({})).then(
    () => 'accepted',
    (error: unknown) => (error as { $metadata: { httpStatusCode: number } }).$metadata.httpStatusCode,
  );
  client.destroy();
  expect(outcome).toBe(403);
});
