import { hash } from 'node:crypto';
import { DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3';
import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import { unavailable } from './errors.ts';

export interface RefusedKey {
  readonly key: string;
  readonly reason: string;
}

/**
 * Deletes up to 1000 keys in one request. A missing object counts as deleted.
 * @returns the keys that S3 did not delete
 */
export async function deleteObjects(
  client: S3Client,
  bucket: string,
  keys: readonly string[],
): Promise<readonly RefusedKey[]> {
  if (keys.length === 0) return [];
  if (keys.length > DELETION_BATCH_SIZE)
    throw new RangeError(`A request can delete at most ${DELETION_BATCH_SIZE} keys.`);
  try {
    const answer = await client.send(deletionOf(bucket, keys));
    return (answer.Errors ?? []).map(({ Key, Code, Message }) => ({
      key: Key ?? '',
      reason: `S3 refused the deletion: ${Code ?? 'no code'} ${Message ?? ''}`.trim(),
    }));
  } catch (error) {
    throw unavailable(error);
  }
}

/**
 * With Content-MD5 instead of the SDK's CRC32: some stores demand the one, and some refuse the other. S3
 * takes both.
 */
function deletionOf(bucket: string, keys: readonly string[]): DeleteObjectsCommand {
  const Objects = keys.map((key) => ({ Key: key }));
  const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
  command.middlewareStack.add(
    (next) => (args) => {
      const { headers, body } = args.request as { headers: Record<string, string>; body: string };
      for (const name of Object.keys(headers))
        if (/^x-amz-(sdk-)?checksum-/i.test(name)) delete headers[name];
      headers['content-md5'] = hash('md5', body, 'base64');
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'contentMd5' }, // after the SDK has added its checksum
  );
  return command;
}
