import { createS3Client, type S3ClientOptions } from './client.ts';
import { ObjectStore } from './object-store.ts';

/** An object store with a client of its own. End it with `close()`. */
export function createObjectStore({
  bucket,
  ...options
}: S3ClientOptions & { readonly bucket: string }): ObjectStore {
  return new ObjectStore(createS3Client(options), bucket);
}
