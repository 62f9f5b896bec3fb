import type { Job } from '@pasteflow/client';
import type { Session } from '../session.ts';
import { startProgress } from '../terminal/progress-bar.ts';

/**
 * Waits for the end of a job, with a progress bar. When the person does not want to wait any longer, the job goes on, and a note says how to
 * end it.
 * @throws JobFailedError
 */
export async function waitForJob({ client, output, terminal, signal }: Session, id: string): Promise<Job> {
  const progress = startProgress(terminal);
  try {
    return await client.jobs.wait(id, {
      signal,
      onProgress: (job) => progress.update(job.progress / 100, job.progress_message ?? job.status),
    });
  } catch (error) {
    progress.end();
    if (signal.aborted) output.note(`Job ${id} goes on. To end it: pasteflow cancel ${id}`);
    throw error;
  } finally {
    progress.end();
  }
}
