import { expect, it } from '@jest/globals';
import { spawnService, urlOfService } from '@pasteflow/dev-stack/testing';
import { createWebhook } from '@pasteflow/postgres';
import { good, privateKey } from '../support/certificates.ts';
import { useBench } from '../support/bench.ts';
import { useRawServers } from '../support/raw-servers.ts';
import { useWebhooks, WEBHOOK_KEY } from '../support/webhooks.ts';

const bench = useBench();
const webhooks = useWebhooks(bench);
const serve = useRawServers();

it('uses no proxy of the environment, and looks at certificates whatever the environment says', async () => {
  let proxied = 0;
  const proxy = `http://${await serve(() => (proxied += 1))}`;
  const untrusted = `https://${await serve(() => {}, { key: privateKey, cert: good })}`;
  const plain = await webhooks.listen();
  const tls = await createWebhook(bench.db, { userId: bench.userId, url: untrusted, events: ['job.ended'] });
  await webhooks.endJob();
  const worker = spawnService({
    entry: new URL('../../src/main.ts', import.meta.url).pathname,
    name: 'upload-worker',
    env: {
      DATABASE_URL: urlOfService(bench.databaseUrl, 'upload-worker'),
      AWS_ENDPOINT_URL: bench.proxy.url,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      METRICS_PORT: '0',
      UPLOAD_WORKER_QUEUES: 'webhooks',
      WEBHOOK_KEY,
      WEBHOOK_ORIGINS: `${new URL(plain.url).origin},${untrusted}`,
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      NO_PROXY: '',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    },
  });
  await webhooks.untilDeliveries(plain, ([first]) => first?.status === 'DELIVERED');
  const [refused] = await webhooks.untilDeliveries(tls!, ([first]) => first?.attempt === 2);
  expect(refused).toMatchObject({ error: 'endpoint failed: its certificate is not trusted' });
  expect(proxied).toBe(0);
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
});
