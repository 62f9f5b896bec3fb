import type { JobEvent, PasteEvent } from '@pasteflow/client';
import { EXIT_DONE, EXIT_FAILED, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { namedBy } from '../settings/named.ts';
import { transitionText } from './transition-text.ts';

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
