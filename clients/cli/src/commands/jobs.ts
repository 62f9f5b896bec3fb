import { type Job, JobFailedError } from '@pasteflow/client';
import { EXIT_DONE, type ExitCode } from '../errors.ts';
import type { Session } from '../session.ts';
import { findNamedRequest } from '../settings/named-requests.ts';
import { jobNamedBy } from '../settings/named.ts';
import { startProgress } from '../terminal/progress-bar.ts';

/** `pasteflow cancel JOB|REQUEST`: ends a job that waits or runs, or a request that takes deposits. */
export async function cancel(
  { client, output, server, signal }: Session,
  argument: string,
): Promise<ExitCode> {
  const request = findNamedRequest(argument, server);
  const cancelled =
    request === null
      ? await client.jobs.cancel(jobNamedBy(argument, server), { signal })
      : await client.requests.cancel(request.id, { signal });
  output.result(cancelled, [cancelled.status]);
  return EXIT_DONE;
}

/** `pasteflow retry JOB`: retries a job that is failed or partial, and prints the id of the new job. */
export async function retry(
  { client, output, server, signal }: Session,
  argument: string,
): Promise<ExitCode> {
  const id = await client.jobs.retry(jobNamedBy(argument, server), { signal });
  output.result({ job_id: id }, [id]);
  return EXIT_DONE;
}

/**
 * Waits for the end of a job, with a progress bar. When the wait ends before the job, by Ctrl-C or because
 * the server does not answer, the job goes on, and a note on stderr names the command that waits for it
 * again.
 * @param again the command that waits for the job again
 * @throws JobFailedError
 */
export async function waitForJob(
  { client, output, terminal, signal }: Session,
  id: string,
  again = `pasteflow watch ${id}`,
): Promise<Job> {
  const progress = startProgress(terminal);
  try {
    return await client.jobs.wait(id, {
      signal,
      onProgress: (job) => progress.update(job.progress / 100, job.progress_message ?? job.status),
    });
  } catch (error) {
    progress.end();
    if (!(error instanceof JobFailedError))
      output.note(`Job ${id} may go on. To wait for it: ${again}. To end it: pasteflow cancel ${id}`);
    throw error;
  } finally {
    progress.end();
  }
}
