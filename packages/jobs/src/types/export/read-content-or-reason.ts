import { DependencyUnavailableError } from '@pasteflow/domain';
import { describeS3Error } from '@pasteflow/s3';
import { readContent, type Content, type PasteLocation } from '../../content/read-content.ts';
import type { JobServices } from '../../definition/job-type.ts';

/**
 * Reads a paste's content, or the reason why it is missing. An object that S3 does not return counts as missing while S3 answers other
 * requests, so that one damaged object does not fail the export of all others.
 * @throws DependencyUnavailableError when S3 or Postgres is down, or the signal's reason
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
    return await readContent(services, paste, signal); // S3 may have recovered between the two requests
  } catch (error) {
    assertOfS3(error, signal);
    return { kind: 'missing', reason: `S3 does not return its object: ${describeS3Error(error.cause)}` };
  }
}

function assertOfS3(error: unknown, signal: AbortSignal): asserts error is DependencyUnavailableError {
  signal.throwIfAborted();
  if (!(error instanceof DependencyUnavailableError) || error.dependency !== 's3') throw error;
}
