import { describe, expect, it } from '@jest/globals';
import { webhookSecret } from '@pasteflow/service-kit';
import { Webhook } from 'standardwebhooks';
import { useBench } from '../support/bench.ts';
import { useWebhooks, WEBHOOK_KEY } from '../support/webhooks.ts';

const bench = useBench();
const webhooks = useWebhooks(bench);

describe('a delivery', () => {
  it('is sent once, signed, and says what happened', async () => {
    const receiver = await webhooks.receive();
    const endpoint = await webhooks.listen(`${receiver.origin}/hook?a=b`);
    const worker = await webhooks.start([receiver.origin]);
    const jobId = await webhooks.endJob();
    const [delivery] = await webhooks.untilDeliveries(endpoint, ([first]) => first?.status === 'DELIVERED');
    expect(delivery).toMatchObject({ status: 'DELIVERED', answered: 204, attempt: 1, error: null });
    expect(receiver.received).toHaveLength(1);
    const { path, headers, body } = receiver.received[0]!;
    expect(path).toBe('/hook?a=b');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Pasteflow-Webhooks',
      'webhook-id': delivery!.eventId,
    });
    const said = new Webhook(webhookSecret(WEBHOOK_KEY, endpoint, 1)).verify(
      body,
      headers as Record<string, string>,
    );
    expect(said).toEqual({
      type: 'job.ended',
      timestamp: delivery!.happenedAt.toISOString(),
      data: { job_id: jobId },
    });
    await worker.stop();
  });
});
