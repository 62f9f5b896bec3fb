import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';

const alive = z.object({ status: z.literal('alive') });

/** GET /healthz: 200 while the process runs. */
export const healthz: Endpoint = {
  operation: {
    operationId: 'readHealth',
    tag: 'operation',
    access: 'open',
    summary: 'Reports that the process is alive.',
    answers: { 200: jsonResponse('The process is alive.', alive) },
    errors: [],
  },
  handle: (_req, res) => {
    res.json({ status: 'alive' } satisfies z.output<typeof alive>);
  },
};

const report = z
  .object({
    ready: z.boolean().meta({ description: 'Whether the process accepts requests.' }),
    status: z.enum(['starting', 'ready', 'not_ready', 'stopping']),
    checks: z.record(
      z.string(),
      z.object({
        state: z.enum(['ok', 'failed', 'timed_out']),
        required: z.boolean().meta({ description: 'Whether a failure makes the process not ready.' }),
      }),
    ),
    paused: z.array(z.string()).optional().meta({
      description:
        'The kinds of work that operators have paused: `uploads`, or types of jobs. Requests are accepted all the same.',
    }),
  })
  .meta({
    id: 'Readiness',
    description: 'Whether a process accepts requests, and the state of its dependencies.',
  });

/** GET /readyz: 503 while a required dependency does not answer, and during start and shutdown. */
export function readyz({ readiness }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readReadiness',
      tag: 'operation',
      access: 'open',
      summary: 'Reports whether the process accepts requests.',
      answers: {
        200: jsonResponse('The process accepts requests.', report),
        503: jsonResponse(
          'The process is starting or shutting down, or a required dependency does not answer.',
          report,
        ),
      },
      errors: [],
    },
    handle: async (_req, res) => {
      const found = await readiness.report();
      res.status(found.ready ? 200 : 503).json(found);
    },
  };
}
