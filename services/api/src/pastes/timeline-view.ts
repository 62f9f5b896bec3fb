import { machines, statesOf, taskExecution } from '@pasteflow/domain';
import type { Timeline } from '@pasteflow/postgres';
import { z } from 'zod';
import { instant, uuid } from '../openapi/formats.ts';

const transition = z.object({
  machine: z.enum(machines.map(({ name }) => name)),
  entity: uuid.meta({ description: 'The id of the paste, job or execution.' }),
  from: z.string(),
  to: z.string(),
  at: instant,
  actor: z
    .string()
    .meta({ description: 'The service and its process, or the database user, that made the transition.' }),
  reason: z.string().nullable(),
});

const execution = z.object({
  id: uuid,
  attempt: z.int().positive(),
  status: z.enum(statesOf(taskExecution)),
  worker_id: z.string().nullable(),
  run_at: instant.meta({ description: 'When the execution is due.' }),
  dispatched_at: instant.nullable().meta({ description: 'When its message was last sent; null: never.' }),
  lease_expires_at: instant.nullable(),
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  error: z.string().nullable(),
});

export const timelineSchema = z
  .object({ transitions: z.array(transition), executions: z.array(execution) })
  .meta({ id: 'Timeline', description: 'Transitions and executions, oldest first.' });

export type TimelineView = Readonly<z.output<typeof timelineSchema>>;

export function viewOfTimeline({ transitions, executions }: Timeline): TimelineView {
  return {
    transitions: transitions.map(({ machine, entity, from, to, at, actor, reason }) => ({
      machine,
      entity,
      from,
      to,
      at: at.toISOString(),
      actor,
      reason,
    })),
    executions: executions.map((execution) => ({
      id: execution.id,
      attempt: execution.attempt,
      status: execution.status,
      worker_id: execution.worker_id,
      run_at: execution.run_at.toISOString(),
      dispatched_at: execution.dispatched_at?.toISOString() ?? null,
      lease_expires_at: execution.lease_expires_at?.toISOString() ?? null,
      created_at: execution.created_at.toISOString(),
      started_at: execution.started_at?.toISOString() ?? null,
      finished_at: execution.finished_at?.toISOString() ?? null,
      error: execution.error,
    })),
  };
}
