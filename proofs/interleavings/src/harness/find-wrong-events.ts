import type { WebhookEventType } from '@pasteflow/domain';
import type { Snapshot, Transition } from './snapshot.ts';

interface Event {
  readonly occurrence: string;
  /** One of them: which claim it was depends on the paste. */
  readonly types: readonly WebhookEventType[];
}

/**
 * What happens is told once to each endpoint that is on all the time, and nothing is told that has not happened. What
 * is open is open once, and nobody is told anything any more whose endpoint is gone.
 */
export function findWrongEvents(before: Snapshot, after: Snapshot): string[] {
  const events = after.transitions.flatMap(({ machine, to, entity }) => eventOf(machine, to, entity));
  const isNew = ({ id }: { readonly id: string }) => !before.deliveries.some((each) => each.id === id);
  const stayedOn = after.endpoints.filter(
    ({ id, isOn }) => isOn && before.endpoints.some((each) => each.id === id && each.isOn),
  );
  const first = after.deliveries.filter(({ isAgain }) => !isAgain);
  const names = first.map(({ endpoint, type, occurrence }) => `${type} of ${occurrence} to ${endpoint}`);
  const open = after.deliveries.filter(({ isOpen }) => isOpen);
  return [
    ...names.filter((name, n) => names.indexOf(name) < n).map((name) => `${name} was told twice`),
    ...first
      .filter(isNew)
      .filter(({ type, occurrence }) => !events.some((each) => isOf(each, type, occurrence)))
      .map(({ type, occurrence }) => `${type} of ${occurrence} was told, and has not happened`),
    ...stayedOn.flatMap(({ id, events: wanted }) =>
      events
        .filter(({ types }) => types.some((type) => wanted.includes(type)))
        .filter(
          (event) =>
            !first.some(({ endpoint, type, occurrence }) => endpoint === id && isOf(event, type, occurrence)),
        )
        .map(({ types, occurrence }) => `${types.join(' or ')} of ${occurrence} was not told to ${id}`),
    ),
    ...open
      .filter(({ endpoint, event }, n) =>
        open.slice(0, n).some((each) => each.endpoint === endpoint && each.event === event),
      )
      .map(({ id }) => `the delivery ${id} sends again what another one sends`),
    ...after.deliveries
      .filter(({ endpoint }) => !after.endpoints.some(({ id }) => id === endpoint))
      .map(({ id }) => `the delivery ${id} has outlived its endpoint`),
  ];
}

function isOf({ occurrence, types }: Event, type: string, of: string): boolean {
  return occurrence === of && (types as readonly string[]).includes(type);
}

function eventOf(machine: Transition['machine'], to: string, occurrence: string): readonly Event[] {
  switch (`${machine} ${to}`) {
    case 'paste_upload PROCESSED':
      return [{ occurrence, types: ['paste.stored'] }];
    case 'paste_upload FAILED':
      return [{ occurrence, types: ['paste.failed'] }];
    case 'paste_deletion DELETION_IN_PROGRESS':
      return [{ occurrence, types: ['paste.read', 'paste.deleted', 'paste.expired'] }];
    case 'job completed':
    case 'job partial':
    case 'job failed':
      return [{ occurrence, types: ['job.ended'] }];
    default:
      return [];
  }
}
