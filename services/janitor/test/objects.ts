import { BUCKET_OWNER_KEY, objectKeyOf } from '@pasteflow/domain';
import type { ObjectStore } from '@pasteflow/s3';
import { createHash } from 'node:crypto';
import { BUCKET, type World } from './world.ts';

export async function putObjects(
  store: ObjectStore,
  shortCodes: readonly string[],
  content = Buffer.from('x'),
): Promise<void> {
  await putKeys(store, shortCodes.map(objectKeyOf), content);
}

export async function putKeys(
  store: ObjectStore,
  keys: readonly string[],
  content = Buffer.from('x'),
): Promise<void> {
  const sha256 = createHash('sha256').update(content).digest();
  let next = 0;
  const lane = async () => {
    while (next < keys.length) await store.put(keys[next++] as string, content, { sha256 });
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

/** Starts a multipart upload and abandons it, like a worker that crashes. */
export async function beginMultipartUpload({ stack }: World, key: string): Promise<void> {
  const response = await fetch(`${stack.aws.endpoint}/${BUCKET}/${key}?uploads`, { method: 'POST' });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

export async function openUploadsIn(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.listMultipartUploads('')) keys.push(...page.map(({ key }) => key));
  return keys;
}

/** Every key, in order, without the object that names the owner of the bucket. */
export async function keysIn(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.list('')) keys.push(...page.map(({ key }) => key));
  return keys.filter((key) => key !== BUCKET_OWNER_KEY);
}

/** The keys of every DeleteObjects call so far, one list for each call. */
export function deleteCalls({ proxy }: World): string[][] {
  return proxy
    .matching({ method: 'POST', path: /\?delete/ })
    .map(({ body }) => [...String(body).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key as string));
}
