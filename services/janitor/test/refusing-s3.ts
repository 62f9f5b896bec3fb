import { objectKeyOf } from '@pasteflow/domain';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const REASON = '<Code>AccessDenied</Code><Message>Access Denied</Message>';

/**
 * Calls `use` with a store on an S3 that refuses to delete the objects of some pastes. As in S3, the response
 * is 200 with an error for each key. Other deletions go to `store`. Requests other than DeleteObjects are
 * answered with 200.
 */
export function withRefusingS3(
  store: ObjectStore,
  shortCodes: readonly string[],
  use: (refusing: ObjectStore) => Promise<void>,
): Promise<void> {
  return withRefusedKeys(store, shortCodes.map(objectKeyOf), use);
}

/** As withRefusingS3, for any keys. */
export async function withRefusedKeys(
  store: ObjectStore,
  keys: readonly string[],
  use: (refusing: ObjectStore) => Promise<void>,
): Promise<void> {
  const refused = new Set(keys);
  const deleteOthers = async (request: IncomingMessage): Promise<string> => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key as string);
    await store.deleteMany(keys.filter((key) => !refused.has(key)));
    const errors = keys
      .filter((key) => refused.has(key))
      .map((key) => `<Error><Key>${key}</Key>${REASON}</Error>`);
    return `<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult>${errors.join('')}</DeleteResult>`;
  };
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.end();
    void deleteOthers(request).then((body) =>
      response.setHeader('content-type', 'application/xml').end(body),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const refusing = createObjectStore({
    bucket: store.bucket,
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    maxAttempts: 1,
    requestTimeoutMs: 7000,
  });
  try {
    await use(refusing);
  } finally {
    refusing.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
