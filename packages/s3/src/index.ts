export { compress, contentRange, DamagedObjectError, decompress } from './compression.ts';
export { createObjectStore, DIRECT_REFUSED } from './create.ts';
export { describeS3Error, reasonOfS3Error, refusalOf } from './errors.ts';
export type { StoredObject } from './object-requests.ts';
export { ObjectStore, type ListedObject } from './object-store.ts';
export { attachmentAs } from './presign.ts';
export type { OpenUpload } from './multipart-uploads.ts';
export type { DeletedObject } from './versions.ts';
