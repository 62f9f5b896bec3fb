import { actorClasses, actorClassOf, job, machines, parseJobReason, parseReason } from '@pasteflow/domain';
import type { Timeline } from '@pasteflow/postgres';
import { z } from 'zod';
import { instant, uuid } from '../openapi/formats.ts';
import type { Audience } from './audience.ts';
import { reasonClass, reasonText, viewOfReason } from './reason-view.ts';

/** Who did something, as everybody sees it. */
export const actorClass = z.enum(actorClasses);

export const transitionSchema = z
  .object({
    machine: z.enum(machines.map(({ name }) => name)),
    entity: uuid.meta({ description: 'The id of the paste, job or execution.' }),
    from: z.string(),
    to: z.string(),
    at: instant,
    actor: actorClass.meta({
      description: 'The service that made the transition; `operator`: by hand.',
    }),
    reason_class: reasonClass,
    reason: reasonText,
  })
  .meta({ id: 'Transition', description: 'A change from one state to another.' });

export type TransitionView = Readonly<z.output<typeof transitionSchema>>;

type StoredTransition = Pick<
  Timeline['transitions'][number],
  'machine' | 'entity' | 'from' | 'to' | 'at' | 'actor' | 'reason'
>;

/** A transition as the timeline and the events show it. */
export function viewOfTransition(
  { machine, entity, from, to, at, actor, reason }: StoredTransition,
  audience: Audience,
): TransitionView {
  const parse = machine === job.name ? parseJobReason : parseReason;
  const why = viewOfReason(reason === null ? null : parse(reason), audience);
  return {
    machine,
    entity,
    from,
    to,
    at: at.toISOString(),
    actor: actorClassOf(actor),
    reason_class: why.class,
    reason: why.text,
  };
}
