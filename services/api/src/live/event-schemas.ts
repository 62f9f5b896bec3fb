import { isTerminal, job, pasteUpload, statesOf, type Machine } from '@pasteflow/domain';
import { z } from 'zod';

const endStates = [pasteUpload, job].flatMap((machine) =>
  statesOf<Machine>(machine).filter((state) => isTerminal<Machine>(machine, state)),
);

const progress = z.object({ progress: z.int().min(0).max(100), progress_message: z.string().nullable() });
const end = z.object({ status: z.enum(endStates).nullable() });

/**
 * The events of a stream. An event is described as an object of its fields, as OpenAPI 3.2 does it and as
 * tools read it in 3.1; `data` is JSON.
 */
export const eventSchema = z
  .discriminatedUnion('event', [
    event('transition', 'A transition, as in the timeline.', { $ref: '#/components/schemas/Transition' }),
    event('progress', 'The latest progress of a job.', jsonSchemaOf(progress)),
    event(
      'end',
      'The last event: the terminal status, or null for a paste that has expired or was deleted.',
      jsonSchemaOf(end),
    ),
  ])
  .meta({ id: 'Event', description: 'A Server-Sent Event of a paste or job.' });

function event<const Name extends string>(name: Name, description: string, contentSchema: object) {
  return z.object({
    event: z.literal(name),
    id: z.string().meta({ description: 'Send it as Last-Event-ID to continue after this event.' }),
    data: z.string().meta({ description, contentMediaType: 'application/json', contentSchema }),
  });
}

function jsonSchemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  return rest;
}
