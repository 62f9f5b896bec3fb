import { createS3Client, type S3ClientOptions } from './client.ts';
import { ObjectStore } from './object-store.ts';

export interface ObjectStoreOptions extends S3ClientOptions {
  readonly bucket: string;
  /**
   * Where those who get a presigned URL reach S3, when that is elsewhere than where this process does. A signature holds for one host only:
   * the URL can't be rewritten afterwards.
   */
  readonly publicEndpoint?: string | undefined;
}

/** An object store with a client of its own. End it with `close()`. */
export function createObjectStore({ bucket, publicEndpoint, ...options }: ObjectStoreOptions): ObjectStore {
  const signing =
    publicEndpoint === undefined ? undefined : createS3Client({ ...options, endpoint: publicEndpoint });
  return new ObjectStore(createS3Client(options), bucket, signing);
}
