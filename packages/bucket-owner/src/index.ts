export { adoptBucket, countBucket, type BucketContents } from './adopt-bucket.ts';
export { BucketOwnership } from './bucket-ownership.ts';
export { BucketOwnerError, checkBucketOwner, type OwnerCheck } from './check-bucket-owner.ts';
