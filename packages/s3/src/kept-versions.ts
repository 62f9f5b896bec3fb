import {
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  S3ServiceException,
  type LifecycleRule,
  type S3Client,
} from '@aws-sdk/client-s3';
import { JOB_OBJECT_KEY_PREFIX, OBJECT_KEY_PREFIX } from '@pasteflow/domain';
import { unavailable } from './errors.ts';

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
