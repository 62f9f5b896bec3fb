import { objectKeyOf } from '@pasteflow/domain';
import type { ObjectStore } from '@pasteflow/s3';
import { createHash } from 'node:crypto';
import type { World } from './world.ts';

export async function putObjects(
  store: ObjectStore,
  shortCodes: readonly string[],
  content = Buffer.from('x'),
): Promise<void> {
  const sha256 = createHash('sha256').update(content).digest();
  let next = 0;
  const lane = async () => {
    while (next < shortCodes.length)
      await store.put(objectKeyOf(shortCodes[next++] as string), content, { sha256 });
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

export async function keysIn(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.list('')) keys.push(...page.map(({ key }) => key));
  return keys;
}

/** The keys of every DeleteObjects call so far, a list a call. */
export function deleteCalls({ proxy }: World): string[][] {
  return proxy
    .matching({ method: 'POST', path: /\?delete/ })
    .map(({ body }) => [...String(body).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key as string));
}
