import type { Readiness } from '@pasteflow/runtime';
import { z } from 'zod';
import type { Endpoint } from '../openapi/endpoint.ts';

const alive = z.object({ status: z.literal('alive') });

/** GET /healthz: the process is alive. */
export const healthz: Endpoint = {
  operation: {
    operationId: 'readHealth',
    tag: 'operation',
    access: 'open',
    summary: 'The process is alive.',
    answers: { 200: { description: 'It is.', content: { 'application/json': { schema: alive } } } },
    errors: [],
  },
  handle: (_req, res) => {
    res.json({ status: 'alive' } satisfies z.output<typeof alive>);
  },
};

const report = z
  .object({
    ready: z.boolean().meta({ description: 'Whether to send requests here.' }),
    status: z.enum(['starting', 'ready', 'not_ready', 'stopping']),
    checks: z.record(
      z.string(),
      z.object({
        state: z.enum(['ok', 'failed', 'timed_out']),
        required: z.boolean().meta({ description: 'Whether the api is ready only with it.' }),
      }),
    ),
  })
  .meta({ id: 'Readiness', description: 'Whether a process can take work, and what it stands on.' });
const content = { 'application/json': { schema: report } };

/** GET /readyz: 503 while what the api needs doesn't answer, and while it shuts down. */
export function readyz({ readiness }: { readiness: Readiness }): Endpoint {
  return {
    operation: {
      operationId: 'readReadiness',
      tag: 'operation',
      access: 'open',
      summary: 'The process can take requests.',
      answers: {
        200: { description: 'It can.', content },
        503: { description: 'It is starting, shutting down, or what it needs does not answer.', content },
      },
      errors: [],
    },
    handle: async (_req, res) => {
      const found = await readiness.report();
      res.status(found.ready ? 200 : 503).json(found satisfies z.output<typeof report>);
    },
  };
}
