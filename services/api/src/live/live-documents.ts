import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';

/** The header fields of a request that may wait. */
export const preferWait = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({
      param: {
        description:
          '`wait=N`: answer as soon as the status is a terminal one, or after N seconds, 60 at most (RFC 7240).',
        example: 'wait=1',
      },
    }),
});

export const preferenceApplied = z
  .string()
  .regex(/^wait=\d+$/)
  .optional()
  .meta({
    header: {
      description:
        'That the wait was applied. It is not when too many are waiting: then ask again after a while.',
    },
  });

export const lastEventId = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .meta({
      param: {
        description:
          'The id of the last event that the client has had: it is told what came after. Without it, all.',
        example: '1204.40',
      },
    }),
});

export const streamDescription =
  'Server-Sent Events. `transition`: a transition as in the timeline. `progress`: `{progress, progress_message}` of a job. ' +
  '`end`: `{status}`, the terminal one, or null when it has expired or was deleted; it is the last event. The ids say how far one has read. ' +
  'Begins with what has been so far, or with what came after Last-Event-ID. A comment every 15 s keeps the connection alive.';

export const streamAnswers: Readonly<Record<number, ZodOpenApiResponseObject>> = {
  200: {
    description: 'The events.',
    headers: z.object({
      'X-Accel-Buffering': z
        .literal('no')
        .meta({ header: { description: 'Tells nginx to pass on what comes.' } }),
    }),
    content: { 'text/event-stream': { schema: z.string() } },
  },
  204: { description: 'Last-Event-ID was the last event: there will be no more.' },
};
