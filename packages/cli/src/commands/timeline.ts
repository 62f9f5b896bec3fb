import { EXIT_DONE, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { namedBy } from '../settings/named.ts';
import { transitionText } from './transition-text.ts';

/** `pasteflow timeline CODE|JOB`: what has happened to a paste or a job, oldest first. */
export async function timeline(
  { client, output, server, signal }: Session,
  argument: string,
): Promise<ExitCode> {
  const named = namedBy(argument, server);
  const found =
    named.kind === 'job'
      ? await client.jobs.timeline(named.id, { signal })
      : await client.pastes.timeline(named.name, { signal });
  output.result(found, found.transitions.map(transitionText));
  return EXIT_DONE;
}
