import { EXIT_DONE, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { jobNamedBy } from '../settings/named.ts';

/** `pasteflow cancel JOB`: ends a job that waits or runs. */
export async function cancel(
  { client, output, server, signal }: Session,
  argument: string,
): Promise<ExitCode> {
  const job = await client.jobs.cancel(jobNamedBy(argument, server), { signal });
  output.result(job, [job.status]);
  return EXIT_DONE;
}
