import { isTerminal, job, type Machine, pasteUpload, statesOf } from '@pasteflow/domain';
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { optionalHeader } from '../http/openapi/formats.ts';

const endStates = [pasteUpload, job].flatMap((machine) =>
  statesOf<Machine>(machine).filter((state) => isTerminal<Machine>(machine, state)),
);

const progress = z.object({ progress: z.int().min(0).max(100), progress_message: z.string().nullable() });
const end = z.object({ status: z.enum(endStates).nullable() });

/**
 * The events of a stream. An event is described as an object of its fields, as OpenAPI 3.2 does it and as
 * tools read it in 3.1; `data` is JSON.
 */
const eventSchema = z
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

/** The headers of a request that may wait. */
export const preferWait = z.object({
  Prefer: optionalHeader(
    '`wait=N`: answer when the status becomes terminal, or after N seconds, at most 60 (RFC 7240). A malformed value and other preferences are ignored. ' +
      'A caller with too many waiting requests gets 429.',
    'wait=1',
  ),
});

export const preferenceApplied = z
  .string()
  .regex(/^wait=\d+$/)
  .optional()
  .meta({
    header: {
      description:
        'The wait that was applied. Absent when too many requests are waiting: then ask again later.',
    },
  });

export const lastEventId = z.object({
  'Last-Event-ID': optionalHeader(
    'The id of the last event that the client received. The stream continues after that event. Without the header, or with an id that was never sent, it begins with the first event.',
    '1204.40',
  ),
});

export const streamDescription =
  'Server-Sent Events. `transition`: a transition, as in the timeline. `progress`: `{progress, progress_message}` of a job. ' +
  '`end`: `{status}`, the terminal status, or null for an expired or deleted one; it is the last event. ' +
  'The stream begins with the past events, or with those after Last-Event-ID. A comment every 15 s keeps the connection open. ' +
  'The stream ends without `end` at most 15 s after its token has expired or was revoked. ' +
  'A caller with too many waiting requests gets 429.';

export const streamAnswers: Readonly<Record<number, ZodOpenApiResponseObject>> = {
  200: {
    description: 'The events.',
    headers: z.object({
      'X-Accel-Buffering': z
        .literal('no')
        .meta({ header: { description: 'Tells nginx not to buffer the stream.' } }),
    }),
    content: { 'text/event-stream': { schema: eventSchema } },
  },
  204: { description: 'Last-Event-ID was the last event; no more will follow.' },
};
