import {
  actorClasses,
  actorClassOf,
  job,
  machines,
  parseJobReason,
  parseReason,
  type Reason,
  reasonClasses,
  statesOf,
  taskExecution,
  textForOwner,
} from '@pasteflow/domain';
import type { Timeline } from '@pasteflow/postgres';
import { z } from 'zod';
import { instant, uuid } from '../http/openapi/formats.ts';

/**
 * Who reads a paste, a job or their timeline (ADR 31). Whoever has the delete token of an anonymous paste is a
 * stranger, too: that token deletes, and does nothing else.
 */
export type Audience = 'owner' | 'stranger';

/** @param ownerId null: an anonymous paste, which has no owner @param userId null: an anonymous caller */
export function audienceOf(ownerId: string | null, userId: string | null): Audience {
  return ownerId !== null && ownerId === userId ? 'owner' : 'stranger';
}

export const knownReasonClass = z
  .enum(reasonClasses)
  .meta({ id: 'ReasonClass', description: 'Why, in one word of a closed list.' });

/** The class of a reason, which everybody sees. */
export const reasonClass = knownReasonClass
  .nullable()
  .meta({ description: 'Why, in one word of a closed list; null: for no special reason.' });

/** The text of a reason, which its owner sees. */
export const reasonText = z
  .string()
  .nullable()
  .meta({ description: 'Why, in words. Only for the owner; null for all others.' });

interface ReasonView {
  readonly class: z.output<typeof reasonClass>;
  readonly text: string | null;
}

/**
 * What a caller sees of a stored reason. Names of hosts, modules and processes are for operators only: `npm
 * run ops -- timeline` shows the stored text.
 */
export function viewOfReason(stored: string | null, audience: Audience, parse = parseReason): ReasonView {
  return stored === null ? { class: null, text: null } : viewOfParsed(parse(stored), audience);
}

function viewOfParsed(reason: Reason, audience: Audience): ReasonView {
  return { class: reason.class, text: audience === 'owner' ? textForOwner(reason) : null };
}

/** Who did something, as everybody sees it. */
const actorClass = z.enum(actorClasses);

const transitionSchema = z
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
  const why = viewOfReason(reason, audience, machine === job.name ? parseJobReason : parseReason);
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
  const why = viewOfParsed({ class: 'retried', text: reason }, audience);
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
  const why = viewOfReason(execution.error, audience);
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
