export { compress, contentRange, DamagedObjectError, decompress } from './compression.ts';
export { DIRECT_REFUSED, ObjectStore, createObjectStore, type ListedObject } from './object-store.ts';
export { describeS3Error, reasonOfS3Error, refusalOf } from './errors.ts';
export type { StoredObject } from './object-requests.ts';
export { attachmentAs } from './attachment.ts';
export type { OpenUpload } from './multipart-uploads.ts';
export type { DeletedObject } from './versions.ts';
