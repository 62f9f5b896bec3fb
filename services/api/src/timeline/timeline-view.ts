import { actorClassOf, parseReason, statesOf, taskExecution } from '@pasteflow/domain';
import type { Timeline } from '@pasteflow/postgres';
import { z } from 'zod';
import { instant, uuid } from '../openapi/formats.ts';
import type { Audience } from './audience.ts';
import { reasonClass, reasonText, viewOfReason } from './reason-view.ts';
import { actorClass, transitionSchema, viewOfTransition } from './transition-view.ts';

const execution = z.object({
  id: uuid,
  attempt: z.int().positive(),
  status: z.enum(statesOf(taskExecution)),
  run_at: instant.meta({ description: 'When the execution is due.' }),
  dispatched_at: instant.nullable().meta({ description: 'When its message was last sent; null: never.' }),
  lease_expires_at: instant.nullable(),
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  error_class: reasonClass,
  error: reasonText,
});

const retry = z.object({
  from: uuid.meta({ description: 'The id of the FAILED paste that was replaced.' }),
  at: instant,
  actor: actorClass,
  reason_class: reasonClass,
  reason: reasonText,
});

export const timelineSchema = z
  .object({
    transitions: z.array(transitionSchema),
    executions: z.array(execution),
    retries: z.array(retry).meta({
      description: 'The retries of the paste by operators, after it had FAILED. Empty for a job.',
    }),
  })
  .meta({ id: 'Timeline', description: 'Transitions, executions and retries, oldest first.' });

type TimelineView = Readonly<z.output<typeof timelineSchema>>;

export function viewOfTimeline(
  { transitions, executions, retries }: Timeline,
  audience: Audience,
): TimelineView {
  return {
    transitions: transitions.map((each) => viewOfTransition(each, audience)),
    executions: executions.map((each) => viewOfExecution(each, audience)),
    retries: retries.map((each) => viewOfRetry(each, audience)),
  };
}

/** The stored reason of a retry is the operator's text alone: its class is always the same. */
function viewOfRetry(
  { from, at, actor, reason }: Timeline['retries'][number],
  audience: Audience,
): TimelineView['retries'][number] {
  const why = viewOfReason({ class: 'retried', text: reason }, audience);
  return {
    from,
    at: at.toISOString(),
    actor: actorClassOf(actor),
    reason_class: why.class,
    reason: why.text,
  };
}

function viewOfExecution(
  execution: Timeline['executions'][number],
  audience: Audience,
): TimelineView['executions'][number] {
  const { error } = execution;
  const why = viewOfReason(error === null ? null : parseReason(error), audience);
  return {
    id: execution.id,
    attempt: execution.attempt,
    status: execution.status,
    run_at: execution.run_at.toISOString(),
    dispatched_at: execution.dispatched_at?.toISOString() ?? null,
    lease_expires_at: execution.lease_expires_at?.toISOString() ?? null,
    created_at: execution.created_at.toISOString(),
    started_at: execution.started_at?.toISOString() ?? null,
    finished_at: execution.finished_at?.toISOString() ?? null,
    error_class: why.class,
    error: why.text,
  };
}
