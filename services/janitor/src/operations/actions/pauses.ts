import { listWorkKinds, pauseKind, resumeKind, type Database, type WorkKind } from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { NO_REASON, Refused, type Action, type Meant } from './action.ts';
import { kindOfWork } from './subjects.ts';

/** The subject is a kind of work: `uploads`, `webhooks`, or a type of jobs. */
export const pause: Action = {
  name: 'pause',
  title: 'Pause',
  command: {
    name: 'pause',
    subjects: [kindOfWork],
    help: 'begins nothing more of this kind: uploads, webhooks, or a type of jobs such as export',
    reason: 'needed',
  },
  check: async ({ db }, kind) => {
    const effect = 'Nothing more of it is begun until it is resumed. What runs goes on to its end.';
    return await check(db, kind, (found) => [
      found.paused_at === null,
      `pauses ${counted(1, 'kind of work')}. ${effect}`,
    ]);
  },
  do: async ({ db }, kind, { actor, reason }) => {
    const found = await requireKind(db, kind);
    if (!(await pauseKind(db, kind, { actor, reason: reason?.trim() || NO_REASON })))
      throw new Refused(alreadyPaused((await findKind(db, kind)) ?? found));
    return { outcome: `Paused ${kind}.`, json: { kind, paused: true } };
  },
};

/** The subject is that of `pause`. */
export const resume: Action = {
  name: 'resume',
  title: 'Resume',
  command: { name: 'resume', subjects: [kindOfWork], help: 'goes on with this kind', reason: 'optional' },
  check: ({ db }, kind) => check(db, kind, (found) => [found.paused_at !== null, 'resumes 1 kind of work.']),
  do: async ({ db }, kind) => {
    await requireKind(db, kind);
    if (!(await resumeKind(db, kind)))
      throw new Refused(`${kind} is not paused: it never was, or somebody else has resumed it`);
    return { outcome: `Resumed ${kind}.`, json: { kind, paused: false } };
  },
};

/** An unknown kind is nothing to do, with the list of the kinds. */
async function check(
  db: Database,
  kind: string,
  meantFor: (found: WorkKind) => readonly [boolean, string],
): Promise<Meant> {
  const found = await findKind(db, kind);
  if (found === undefined) return { count: 0, sentence: `${await unknown(db, kind)}.` };
  const [isPossible, effect] = meantFor(found);
  if (isPossible) return { count: 1, sentence: `This ${effect}` };
  return {
    count: 0,
    sentence: found.paused_at === null ? `${kind} is not paused.` : `${alreadyPaused(found)}.`,
  };
}

async function findKind(db: Database, kind: string): Promise<WorkKind | undefined> {
  return (await listWorkKinds(db)).find((each) => each.kind === kind);
}

async function requireKind(db: Database, kind: string): Promise<WorkKind> {
  const found = await findKind(db, kind);
  if (found === undefined) throw new Refused(await unknown(db, kind));
  return found;
}

async function unknown(db: Database, kind: string): Promise<string> {
  const kinds = (await listWorkKinds(db)).map((each) => each.kind);
  return `there is no kind of work ${kind}; the kinds are ${kinds.join(', ')}`;
}

function alreadyPaused({ kind, paused_at, paused_by, pause_reason }: WorkKind): string {
  if (paused_at === null) return `${kind} was paused and resumed at the same time by somebody else`;
  return `${kind} is paused already, since ${paused_at.toISOString()} by ${paused_by}: ${pause_reason}`;
}
