// Contents that a client sends in each form, and that must be read back byte for byte.
import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { curl, type Cluster } from '../../src/index.ts';

export const KIB = 1024;
export const LIMIT = 10 * KIB * KIB;

/** Text of exactly `bytes` bytes, with NUL and with characters of every length. */
export function textOf(bytes: number): Buffer {
  const pattern = Buffer.from('zéro € 🦊\0\r\n');
  const whole = Math.floor(bytes / pattern.length);
  return Buffer.concat([
    ...Array<Buffer>(whole).fill(pattern),
    Buffer.alloc(bytes - whole * pattern.length, 'x'),
  ]);
}

export type Send = (cluster: Cluster, content: Buffer) => Promise<{ status: number; shortCode: string }>;

async function outcome(response: Response): Promise<{ status: number; shortCode: string }> {
  const { short_code: shortCode = '' } = (await response.json()) as Partial<Paste>;
  return { status: response.status, shortCode };
}

export const asRaw: Send = async (cluster, content) => await outcome(await cluster.http().post(content));

export const asJson: Send = async (cluster, content) => {
  const body = JSON.stringify({ content: content.toString() });
  return await outcome(await cluster.http().post(body, { headers: { 'content-type': 'application/json' } }));
};

export const asForm: Send = async (cluster, content) => {
  const body = new FormData();
  body.set('content', new Blob([new Uint8Array(content)]), 'paste.bin');
  return await outcome(await cluster.http().request('/v1/pastes', { method: 'POST', body }));
};

export const fromShell: Send = async (cluster, content) => {
  const { url } = cluster.http();
  const { stdout } = await curl(['--data-binary', '@-', '--write-out', '%{http_code}', url], content);
  const [, pasteUrl = '', status] = stdout.toString().match(/^(?:(http\S+)\n|[^]*?)(\d{3})$/) ?? [];
  return { status: Number(status), shortCode: pasteUrl.replace(`${url}/`, '') };
};

export async function expectReadBack(cluster: Cluster, shortCode: string, content: Buffer): Promise<void> {
  const sha256 = createHash('sha256').update(content).digest('hex');
  expect(await cluster.client().pastes.get(shortCode)).toMatchObject({
    content_hash: `sha256:${sha256}`,
    size_bytes: content.length,
  });
  await cluster.untilStatus(shortCode, 'PROCESSED');
  const { status, headers, body } = await cluster.http().read(shortCode, { 'accept-encoding': 'identity' });
  expect(status).toBe(200);
  expect(headers.get('etag')).toBe(`"${sha256}"`);
  expect(headers.get('content-length')).toBe(String(content.length));
  expect(createHash('sha256').update(body).digest('hex')).toBe(sha256);
  expect(body.equals(content)).toBe(true);
  const compressed = await cluster.http().read(shortCode, { 'accept-encoding': 'gzip' });
  expect(compressed.body.equals(content)).toBe(true);
}
