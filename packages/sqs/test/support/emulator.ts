import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { FaultProxy, startTestAws, until, type TestAws } from '@pasteflow/dev-stack/testing';
import { createQueue, createSqsClient, deadLetterQueueName, type Queue } from '../../src/index.ts';

export interface Emulator {
  readonly proxy: FaultProxy;
  /** Sends its requests through the proxy, as a service does. */
  readonly client: SQSClient;
  /** Bypasses the proxy. */
  readonly direct: SQSClient;
  readonly queue: Queue;
  readonly deadLetters: Queue;
}

const name = 'pasteflow-uploads';

/** The emulator for a test file, behind a proxy. Each test starts with a proxy without rules. */
export function useEmulator(): Emulator {
  const current = {} as { -readonly [Key in keyof Emulator]: Emulator[Key] };
  let stack: TestAws;
  beforeAll(async () => {
    process.env.AWS_ACCESS_KEY_ID = 'test';
    process.env.AWS_SECRET_ACCESS_KEY = 'test';
    stack = await startTestAws();
    current.proxy = await FaultProxy.start(stack.aws.endpoint);
    current.client = createSqsClient({
      region: 'us-east-1',
      endpoint: current.proxy.url,
      requests: 'direct',
    });
    current.direct = createSqsClient({ region: 'us-east-1', endpoint: stack.aws.endpoint });
    current.queue = createQueue(current.client, name);
    current.deadLetters = createQueue(current.client, deadLetterQueueName(name));
  });
  afterEach(() => {
    current.proxy.clear();
    current.proxy.requests.length = 0;
  });
  afterAll(async () => {
    current.client?.destroy();
    current.direct?.destroy();
    await current.proxy?.stop();
    await stack?.stop();
  });
  return current;
}

export async function sendRaw({ direct, queue }: Emulator, body: string): Promise<void> {
  await direct.send(new SendMessageCommand({ QueueUrl: await queue.url(), MessageBody: body }));
}

export { until };
