import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { curl, startCluster, type Cluster } from '../src/index.ts';

const JANITOR = { SWEEP_INTERVALS: 'cleanup=0.2' };

let cluster: Cluster;
beforeAll(async () => {
  // Three attempts in 400 ms, so that an upload fails quickly. The tests start a janitor when they need one.
  cluster = await startCluster({
    janitors: 0,
    env: { UPLOAD_RETRY_DELAYS_MS: '200,200' },
  });
});
afterEach(() => cluster.s3.clear());
afterAll(() => cluster.stop());

const PUT = { method: 'PUT' };
const content = randomBytes(3000);

/** curl with the only option that a shell user needs to wait for an upload. */
const curlRetry = (url: string) => curl(['--retry', '10', url]);

/** How often the api has answered 503 for this paste. */
function retryAnswers({ short_code }: Paste): number {
  return cluster.apis
    .flatMap(({ log }) => log)
    .filter((line) => line.message === 'request' && line.short_code === short_code && line.status === 503)
    .length;
}

describe('a paste whose upload is in progress', () => {
  it('answers 503 with Retry-After in whole seconds and an empty body, at both of its URLs', async () => {
    const put = cluster.s3.hold(PUT);
    const paste = await cluster.client().pastes.create(content);
    const held = await put;
    for (const url of [paste.url, paste.content_url]) {
      const response = await fetch(url);
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(await response.text()).toBe('');
    }
    await held.forward();
    await cluster.untilStatus(paste.short_code, 'PROCESSED');
  });

  it('makes curl --retry wait, and then print its exact bytes and nothing else', async () => {
    const put = cluster.s3.hold(PUT);
    const paste = await cluster.client().pastes.create(content);
    const reading = curlRetry(paste.url);
    const held = await put;
    await cluster.until(
      () => retryAnswers(paste),
      (count) => count >= 2,
    );
    await held.forward();
    const { code, stdout } = await reading;
    expect(code).toBe(0);
    expect(stdout.equals(content)).toBe(true);
  });

  it('makes curl --retry wait also while attempts fail', async () => {
    cluster.s3.rule(PUT, { kind: 'fail', status: 503 }, 1);
    const second = cluster.s3.hold(PUT); // the newest rule applies first: this rule holds attempt 1, and attempt 2 fails
    const paste = await cluster.client().pastes.create(content);
    const reading = curlRetry(paste.content_url);
    const held = await second;
    await cluster.until(
      () => retryAnswers(paste),
      (count) => count >= 1,
    );
    held.fail(500);
    const { code, stdout } = await reading;
    expect(code).toBe(0);
    expect(stdout.equals(content)).toBe(true);
    expect((await cluster.executions(paste.short_code)).map(({ status }) => status)).toEqual([
      'FAILED',
      'FAILED',
      'SUCCEEDED',
    ]);
  });
});

describe('a paste whose upload failed', () => {
  it('answers like an unknown paste: the same 404, headers and body', async () => {
    cluster.s3.rule(PUT, { kind: 'fail', status: 500 });
    const { short_code: failed } = await cluster.client().pastes.create(content);
    await cluster.untilStatus(failed, 'FAILED');
    const unknown = failed.replace(/^./, (first) => (first === 'a' ? 'b' : 'a'));
    for (const path of ['/CODE', '/v1/pastes/CODE/content']) {
      const [ofFailed, ofUnknown] = await Promise.all([answer(path, failed), answer(path, unknown)]);
      expect(ofFailed.status).toBe(404);
      expect(ofFailed).toEqual(ofUnknown);
    }
    expect(await cluster.client().pastes.get(failed)).toMatchObject({
      status: 'FAILED',
      failure_class: 'storage_unavailable',
    });
  });
});

/** The answer without the requested code and without the headers that differ between any two requests. */
async function answer(path: string, shortCode: string) {
  const response = await cluster.http().request(path.replace('CODE', shortCode));
  const headers = new Map(response.headers);
  for (const name of ['date', 'x-request-id', 'ratelimit']) headers.delete(name);
  return { status: response.status, headers, body: (await response.text()).replaceAll(shortCode, 'CODE') };
}

describe('a paste that has expired or is deleted', () => {
  it('answers 410 from its expiry on, while it is claimed, and after its deletion', async () => {
    const { short_code } = await cluster.client().pastes.create(content);
    await cluster.untilStatus(short_code, 'PROCESSED');
    expect((await cluster.http().read(short_code)).status).toBe(200);

    await cluster.rows.query(`UPDATE pastes SET expires_at = now() WHERE short_code = $1`, [short_code]);
    await expectGone(short_code);

    const deletion = cluster.s3.hold({ method: 'POST', path: /\?delete/ });
    const janitor = await cluster.add('janitor', JANITOR);
    const held = await deletion;
    expect(await cluster.paste(short_code)).toMatchObject({ deletion_status: 'DELETION_IN_PROGRESS' });
    await expectGone(short_code);

    await held.forward();
    await cluster.until(
      () => cluster.paste(short_code),
      (paste) => paste.deletion_status === 'DELETED',
    );
    await expectGone(short_code);
    await janitor.stop();
  });

  it('answers 410 from the moment its owner deletes it, even while its upload is in progress', async () => {
    const put = cluster.s3.hold(PUT);
    const { short_code, delete_token: deleteToken } = await cluster.client().pastes.create(content);
    const held = await put;
    await cluster.client().pastes.delete(short_code, { deleteToken });
    await expectGone(short_code);
    await held.forward();
    await cluster.untilStatus(short_code, 'PROCESSED');
    await expectGone(short_code);
  });
});

async function expectGone(shortCode: string): Promise<void> {
  for (const path of [`/${shortCode}`, `/v1/pastes/${shortCode}/content`, `/v1/pastes/${shortCode}`]) {
    const response = await cluster.http().request(path);
    expect(response.status).toBe(410);
    expect(await response.json()).toMatchObject({ code: 'paste_gone' });
  }
}

it('leaves no open work and no other object than the tables name', async () => {
  await cluster.add('janitor', JANITOR);
  await cluster.until(
    () =>
      cluster.rows.query(
        `SELECT FROM pastes WHERE (expires_at <= now() OR deletion_requested_at IS NOT NULL) AND deletion_status <> 'DELETED'`,
      ),
    (overdue) => overdue.length === 0,
  );
  await cluster.expectQuiet();
});
