import type { JobEvent, PasteEvent, Timeline } from '@pasteflow/client';
import { EXIT_DONE, EXIT_FAILED, type ExitCode } from '../errors.ts';
import type { Session } from '../session.ts';
import { namedBy } from '../settings/named.ts';

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

const GOOD_ENDS: readonly unknown[] = ['PROCESSED', 'completed'];

/** `pasteflow watch CODE|JOB`: the events as they happen, until the end. */
export async function watch(
  { client, output, server, signal }: Session,
  argument: string,
): Promise<ExitCode> {
  const named = namedBy(argument, server);
  const events: AsyncIterable<PasteEvent | JobEvent> =
    named.kind === 'job'
      ? client.jobs.events(named.id, { signal })
      : client.pastes.events(named.name, { signal });
  for await (const event of events) {
    output.result(event, [eventText(event)]);
    if (event.type === 'end') return GOOD_ENDS.includes(event.status) ? EXIT_DONE : EXIT_FAILED;
  }
  output.problem('The events broke off before the end.', argument);
  return EXIT_FAILED;
}

function eventText(event: PasteEvent | JobEvent): string {
  switch (event.type) {
    case 'transition':
      return transitionText(event.transition);
    case 'progress':
      return `${event.progress} %${event.progress_message === null ? '' : `  ${event.progress_message}`}`;
    case 'end':
      return `end  ${event.status ?? 'expired or deleted'}`;
    default:
      return event satisfies never;
  }
}

type Transition = Timeline['transitions'][number];

/** One line: when, what, from and to which state, by whom and why. */
function transitionText({ at, machine, from, to, actor, reason, reason_class }: Transition): string {
  return [at, machine, `${from} → ${to}`, actor, reason ?? reason_class ?? ''].join('  ').trimEnd();
}
