export { createObjectStore, type ObjectStoreOptions } from './create.ts';
export type { S3ClientOptions } from './client.ts';
export { describeS3Error, ObjectTooLargeError } from './errors.ts';
export { ObjectStore, type ListedObject, type RefusedKey, type StoredObject } from './object-store.ts';
export type { OpenUpload } from './multipart-uploads.ts';
export type { PresignOptions } from './presign.ts';
