import {
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  S3ServiceException,
  type LifecycleRule,
} from '@aws-sdk/client-s3';
import { JOB_OBJECT_KEY_PREFIX, OBJECT_KEY_PREFIX } from '@pasteflow/domain';
import { unavailable } from './errors.ts';

/** A deleted object whose last version the bucket still has. */
export interface DeletedObject {
  readonly key: string;
  /** The version ids of the delete markers above the last version, newest first. Each deletion adds one. */
  readonly markers: readonly string[];
  /** The time of the first deletion after the last version was written. */
  readonly deletedAt: Date;
}

interface Version {
  readonly key: string;
  readonly versionId: string;
  readonly lastModified: Date;
  readonly isMarker: boolean;
  readonly isLatest: boolean;
}

/**
 * Yields the deleted objects under the prefix that can be restored, in key order. The bucket needs
 * versioning.
 */
export async function* listDeletedObjects(
  client: S3Client,
  bucket: string,
  prefix: string,
): AsyncGenerator<DeletedObject> {
  let above: Version[] = [];
  for await (const version of listVersions(client, bucket, prefix)) {
    if (version.isMarker && version.isLatest) above = [version];
    else if (above[0]?.key !== version.key) above = [];
    else if (version.isMarker) above.push(version);
    else {
      yield {
        key: version.key,
        markers: above.map(({ versionId }) => versionId),
        deletedAt: above.at(-1)?.lastModified ?? version.lastModified,
      };
      above = [];
    }
  }
}

/** Makes the last version of a deleted object the current one. Deletes nothing but delete markers. */
export async function restoreDeletedObject(
  client: S3Client,
  bucket: string,
  { key, markers }: DeletedObject,
): Promise<void> {
  try {
    for (const VersionId of markers)
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key, VersionId }));
  } catch (error) {
    throw unavailable(error);
  }
}

/**
 * Yields versions and delete markers by key, the newest first. S3 returns both in two lists, each in this
 * order.
 */
async function* listVersions(client: S3Client, bucket: string, prefix: string): AsyncGenerator<Version> {
  let marker: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | null = {};
  while (marker !== null) {
    const page: ListObjectVersionsCommandOutput = await client
      .send(new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix, ...marker }))
      .catch((error: unknown) => {
        throw unavailable(error);
      });
    const versions = [
      ...(page.Versions ?? []).map((each) => ({ ...each, isMarker: false })),
      ...(page.DeleteMarkers ?? []).map((each) => ({ ...each, isMarker: true })),
    ].flatMap(({ Key, VersionId, LastModified, IsLatest, isMarker }) =>
      Key !== undefined && VersionId !== undefined && LastModified !== undefined
        ? [
            {
              key: Key,
              versionId: VersionId,
              lastModified: LastModified,
              isMarker,
              isLatest: IsLatest === true,
            },
          ]
        : [],
    );
    yield* versions.toSorted(newestFirst);
    marker =
      page.IsTruncated === true
        ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
        : null;
  }
}

/**
 * The times have a resolution of a second: of one second, the latest comes first, and a marker above a
 * version.
 */
function newestFirst(a: Version, b: Version): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return (
    Number(b.isLatest) - Number(a.isLatest) ||
    b.lastModified.getTime() - a.lastModified.getTime() ||
    Number(b.isMarker) - Number(a.isMarker)
  );
}

/** How long a bucket keeps what is deleted. */
export interface KeptVersions {
  /** Days until an old version is removed; null: never. 0: the bucket keeps none. */
  readonly days: number | null;
  /** Days for which object lock keeps each new version from being deleted; 0: it doesn't. */
  readonly lockedDays: number;
}

/** @throws DependencyUnavailableError also when the settings may not be read */
export async function readKeptVersions(client: S3Client, bucket: string): Promise<KeptVersions> {
  const Bucket = bucket;
  // A store without versions knows none of these requests.
  const versioning = await unlessNone(() => client.send(new GetBucketVersioningCommand({ Bucket })));
  if (versioning?.Status === undefined) return { days: 0, lockedDays: 0 };
  const lifecycle = await unlessNone(() =>
    client.send(new GetBucketLifecycleConfigurationCommand({ Bucket })),
  );
  const lock = await unlessNone(() => client.send(new GetObjectLockConfigurationCommand({ Bucket })));
  const { Days = 0, Years = 0 } = lock?.ObjectLockConfiguration?.Rule?.DefaultRetention ?? {};
  const each = [OBJECT_KEY_PREFIX, JOB_OBJECT_KEY_PREFIX].map((prefix) =>
    daysUnder(prefix, lifecycle?.Rules ?? []),
  );
  const days = each.includes(null) ? null : Math.max(...each.map(Number));
  return { days, lockedDays: Days + Years * 365 };
}

/** The shortest time after which a rule removes old versions of all objects under the prefix; null: none does. */
function daysUnder(prefix: string, rules: readonly LifecycleRule[]): number | null {
  // oxlint-disable-next-line typescript/no-deprecated -- rules of the older form have their prefix there
  const days = rules.flatMap(({ Status, Filter, Prefix, NoncurrentVersionExpiration: expiry }) => {
    const isPartial =
      Filter?.And !== undefined ||
      Filter?.Tag !== undefined ||
      Filter?.ObjectSizeGreaterThan !== undefined ||
      Filter?.ObjectSizeLessThan !== undefined;
    const covers = Status === 'Enabled' && !isPartial && prefix.startsWith(Filter?.Prefix ?? Prefix ?? '');
    const keepsSome = (expiry?.NewerNoncurrentVersions ?? 0) > 0;
    return covers && !keepsSome && expiry?.NoncurrentDays !== undefined ? [expiry.NoncurrentDays] : [];
  });
  return days.length === 0 ? null : Math.min(...days);
}

/** null: there is no such setting, or the store doesn't know the request. */
async function unlessNone<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    const isBucketGone = Error.isError(error) && error.name === 'NoSuchBucket';
    if (!isBucketGone && status !== undefined && [400, 404, 405, 501].includes(status)) return null;
    throw unavailable(error);
  }
}
