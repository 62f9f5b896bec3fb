import { expect, it } from '@jest/globals';
import { Metrics } from '@pasteflow/runtime';
import { showWebhookKey } from '../../src/index.ts';

async function shownFor(key: string | null): Promise<string | undefined> {
  const metrics = new Metrics('any', { process: false });
  showWebhookKey(metrics, key === null ? null : { key, origins: new Set() });
  return /^pasteflow_webhook_key\S* (\d+)$/m.exec(await metrics.text())?.[1];
}

it('shows the same number for the same key, another one for another key, and none without a key', async () => {
  const key = 'a key of thirty-two characters or more';
  const shown = await shownFor(key);
  expect(Number(shown)).toBeGreaterThan(0);
  expect(await shownFor(key)).toBe(shown);
  expect(await shownFor(`${key}!`)).not.toBe(shown);
  expect(await shownFor(null)).toBeUndefined();
});
