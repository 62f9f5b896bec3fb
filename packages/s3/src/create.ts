import { createS3Client, type S3ClientOptions } from './client.ts';
import { ObjectStore } from './object-store.ts';

export interface ObjectStoreOptions extends S3ClientOptions {
  readonly bucket: string;
  /**
   * The endpoint of presigned URLs, when clients reach S3 under another address than this process. It must be known before signing: a
   * signature is valid for one host only, so a URL cannot be rewritten afterwards.
   */
  readonly publicEndpoint?: string | undefined;
}

/** Creates an object store with its own client. Call `close()` at the end. */
export function createObjectStore({ bucket, publicEndpoint, ...options }: ObjectStoreOptions): ObjectStore {
  const signing =
    publicEndpoint === undefined ? undefined : createS3Client({ ...options, endpoint: publicEndpoint });
  return new ObjectStore(createS3Client(options), bucket, signing);
}
