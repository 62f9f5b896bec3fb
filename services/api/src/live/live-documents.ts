import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { eventSchema } from './event-schemas.ts';

/** The headers of a request that may wait. */
export const preferWait = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({
      param: {
        description:
          '`wait=N`: answer when the status becomes terminal, or after N seconds, at most 60 (RFC 7240). A malformed value and other preferences are ignored. ' +
          'A caller with too many waiting requests gets 429.',
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
        'The wait that was applied. Absent when too many requests are waiting: then ask again later.',
    },
  });

export const lastEventId = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .meta({
      param: {
        description:
          'The id of the last event that the client received. The stream continues after that event. Without the header, or with an id that was never sent, it begins with the first event.',
        example: '1204.40',
      },
    }),
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
