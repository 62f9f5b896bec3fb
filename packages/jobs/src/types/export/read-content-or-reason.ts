import { DependencyUnavailableError } from '@pasteflow/domain';
import { describeS3Error } from '@pasteflow/s3';
import { readContent, type Content, type PasteLocation } from '../../content/read-content.ts';
import type { JobServices } from '../../definition/job-type.ts';

/**
 * A paste's content, or why it has none. An object that S3 doesn't give while it answers otherwise is missing: one bad object must not cost
 * the owner all the others. @throws DependencyUnavailableError when S3 or Postgres is away, or the signal's reason
 */
export async function readContentOrReason(
  services: Pick<JobServices, 'db' | 'store'>,
  paste: PasteLocation,
  signal: AbortSignal,
): Promise<Content> {
  try {
    return await readContent(services, paste, signal);
  } catch (error) {
    assertOfS3(error, signal);
  }
  await services.store.ping(signal);
  try {
    return await readContent(services, paste, signal); // it may have come back between the two
  } catch (error) {
    assertOfS3(error, signal);
    return { kind: 'missing', reason: `S3 does not give its object: ${describeS3Error(error.cause)}` };
  }
}

function assertOfS3(error: unknown, signal: AbortSignal): asserts error is DependencyUnavailableError {
  signal.throwIfAborted();
  if (!(error instanceof DependencyUnavailableError) || error.dependency !== 's3') throw error;
}
