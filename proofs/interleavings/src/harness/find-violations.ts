import { canTransition, isState, machines, type Machine, type WebhookEventType } from '@pasteflow/domain';
import { DEPOSIT_CODE, KEYED_CODE, MAX_OPEN_JOBS, type World } from './operation.ts';
import type { RunnerReport } from './runner.ts';
import type { Snapshot, Transition } from './snapshot.ts';

/** What must be true after each schedule: one sentence for each violation. */
export function findViolations(
  world: World,
  { before, after }: { before: Snapshot; after: Snapshot },
  reports: readonly RunnerReport[],
): string[] {
  return [
    ...findGaps(before, after),
    ...findWrongReports(after.transitions, reports),
    ...findTakenWork(after),
    ...findLostAttempts(before, after),
    ...findLostContent(after, world),
    ...findStrandedWork(after, world),
    ...findServedAfterTakedown(after),
    ...findReadTwice(before, after),
    ...findTooMany(after),
    ...findLostSlugs(before, after),
    ...findWrongVersions(after),
    ...findWrongDeposits(world, before, after),
    ...findWrongEvents(before, after),
    ...findWrongSessions(after),
  ];
}

/**
 * The audit trail leads from the state before the schedule to the present one, by transitions of the tables.
 */
function findGaps(before: Snapshot, after: Snapshot): string[] {
  const problems: string[] = [];
  const reached = new Map(Object.entries(before.states));
  for (const { machine: name, entity, from, to } of after.transitions) {
    const machine = (machines as readonly Machine[]).find((each) => each.name === name)!;
    const key = `${name} ${entity}`;
    const known = reached.get(key) ?? machine.initial;
    if (!isState(machine, from) || !isState(machine, to) || !canTransition(machine, from, to))
      problems.push(`${key} went from ${from} to ${to}`);
    if (known !== from) problems.push(`${key} left ${from} while it was ${known}`);
    reached.set(key, to);
  }
  for (const [key, state] of Object.entries(after.states)) {
    const machine = (machines as readonly Machine[]).find((each) => key.startsWith(`${each.name} `))!;
    const recorded = reached.get(key) ?? machine.initial;
    if (recorded !== state) problems.push(`${key} is ${state}, and the audit trail ends in ${recorded}`);
  }
  return problems;
}

/**
 * Each statement that says that it changed a state has a transition in the audit trail; a loser has none, and
 * reports its loss.
 */
function findWrongReports(transitions: readonly Transition[], reports: readonly RunnerReport[]): string[] {
  return reports.flatMap(({ actor, changes }) => {
    const recorded = transitions.filter((each) => each.actor === actor).length;
    const isRight = changes === undefined || (changes <= recorded && (changes > 0 || recorded === 0));
    return isRight
      ? []
      : [`${actor} says that it changed a state ${changes} times, and the audit trail has ${recorded}`];
  });
}

/** No sweep takes away what was claimed in the schedule, because its process lives. */
function findTakenWork({ transitions }: Snapshot): string[] {
  const isClaim = ({ to }: Transition) => to === 'RUNNING' || to === 'DELETION_IN_PROGRESS';
  return transitions
    .filter(({ actor, entity }, n) => {
      const earlier = transitions.slice(0, n).filter((each) => each.entity === entity);
      return /^(reap|watchdog) /.test(actor) && earlier.some(isClaim);
    })
    .map(({ machine, entity, actor }) => `${machine} ${entity} was claimed, and ${actor} has taken it away`);
}

/** The attempts of an upload or a job are counted up, also when its worker was lost. */
function findLostAttempts(before: Snapshot, { subjects }: Snapshot): string[] {
  const attempts = new Map(before.subjects.map(({ id, attempt }) => [id, attempt]));
  return subjects
    .filter(({ id, attempt }) => attempt !== null && attempt < (attempts.get(id) ?? 0))
    .map(({ id, attempt }) => `${id} went back from attempt ${attempts.get(id)} to attempt ${attempt}`);
}

/** The bytes of a paste that is still served are in Postgres until they are in S3. */
function findLostContent({ pastes }: Snapshot, { objects }: World): string[] {
  return pastes.flatMap(({ code, status, deletion, expired, isDeleted, hasPayload }) => {
    const isServed = deletion === 'NOT_EXPIRED' && !expired && !isDeleted;
    const problems: string[] = [];
    if (status === 'IN_PROGRESS' && !hasPayload) problems.push(`${code} is IN_PROGRESS without a payload`);
    if (status !== 'IN_PROGRESS' && hasPayload) problems.push(`${code} is ${status} and keeps its payload`);
    if (status === 'PROCESSED' && isServed && !objects.has(code))
      problems.push(`${code} is PROCESSED without an object`);
    return problems;
  });
}

/** A takedown outlives everything that happens to the paste, a retry included. */
function findServedAfterTakedown({ pastes }: Snapshot): string[] {
  return pastes
    .filter(({ hasTakedown, isTakenDown, isDeleted }) => hasTakedown && !(isTakenDown && isDeleted))
    .map(({ code }) => `${code} was taken down and is served`);
}

/** A paste that is read once is read by one, and nothing that follows makes it readable. */
function findReadTwice(before: Snapshot, { pastes, transitions }: Snapshot): string[] {
  const revealed = transitions.filter(({ reason }) => reason === 'revealed').length;
  return pastes.flatMap(({ code, isBurned, isDeleted }) => {
    const wasBurned = before.pastes.some((each) => each.code === code && each.isBurned);
    const problems: string[] = [];
    if (revealed > (wasBurned ? 0 : 1)) problems.push(`${code} was read ${revealed} times`);
    if ((wasBurned || revealed > 0) && !(isBurned && isDeleted))
      problems.push(`${code} was read and is served`);
    return problems;
  });
}

/** Open work has exactly one open execution, and ended work has none. */
function findStrandedWork({ subjects }: Snapshot, { isStranded }: World): string[] {
  return subjects
    .filter(
      ({ isOpen, openExecutions }) =>
        openExecutions > (isOpen ? 1 : 0) || (isOpen && !isStranded && openExecutions === 0),
    )
    .map(
      ({ id, isOpen, openExecutions }) =>
        `${id} is ${isOpen ? 'open' : 'ended'} with ${openExecutions} open executions`,
    );
}

/** A slug is free only when the row of the paste that had it is gone. */
function findLostSlugs(before: Snapshot, after: Snapshot): string[] {
  const isThere = (wanted: string) => after.pastes.some(({ code }) => code === wanted);
  const isTaken = (wanted: string) => after.pastes.some(({ slug }) => slug === wanted);
  return before.pastes
    .filter(({ code, slug }) => slug !== null && isThere(code) && !isTaken(slug))
    .map(({ slug }) => `the slug ${slug} names no paste`);
}

/** A slug names one paste, a key makes one, and a user has at most as many open jobs as the cap allows. */
function findTooMany({ pastes, openJobs }: Snapshot): string[] {
  const keyed = pastes.filter(({ code }) => code.startsWith(KEYED_CODE)).length;
  const slugs = pastes.flatMap(({ slug }) => slug ?? []);
  return [
    ...(new Set(slugs).size < slugs.length ? [`${slugs.length} pastes have the slug ${slugs[0]}`] : []),
    ...(keyed > 1 ? [`a key made ${keyed} pastes`] : []),
    ...(openJobs > MAX_OPEN_JOBS ? [`${openJobs} jobs are open, and the cap is ${MAX_OPEN_JOBS}`] : []),
  ];
}

/**
 * A paste has one newer version that is neither failed nor deleted. Once that is stored, the older paste names it, and
 * the slug has moved; before, neither.
 */
function findWrongVersions({ pastes }: Snapshot): string[] {
  const live = pastes.filter(
    ({ supersedes, status, deletion, isDeleted }) =>
      supersedes !== null && status !== 'FAILED' && deletion !== 'DELETED' && !isDeleted,
  );
  const places = new Set(live.map(({ supersedes }) => supersedes));
  const byCode = new Map(pastes.map((paste) => [paste.code, paste]));
  return [
    ...(places.size < live.length ? [`${live.length} pastes supersede ${[...places].join(' and ')}`] : []),
    ...live.flatMap(({ code, status, slug, supersedes }) => {
      const older = byCode.get(supersedes ?? '');
      if (status !== 'PROCESSED') return slug === null ? [] : [`${code} has the slug, and is not stored`];
      if (older === undefined || older.isDeleted || older.expired) return [];
      return older.supersededBy === code && older.slug === null
        ? []
        : [`${older.code} does not name ${code}`];
    }),
    ...pastes.flatMap(({ code, supersededBy }) => {
      const newer = byCode.get(supersededBy ?? '');
      return newer === undefined || newer.status === 'PROCESSED'
        ? []
        : [`${code} names ${newer.code} too early`];
    }),
  ];
}

/**
 * One acceptance of an invitation signs in, until the next invitation of the user. Nobody who is erased is signed in, or
 * invited.
 */
function findWrongSessions({ members }: Snapshot): string[] {
  return members.flatMap(({ id, isErased, sessions, accepted, isNewestAccepted, open }) => [
    ...(sessions > 1 ? [`${id} has ${sessions} sessions by one invitation`] : []),
    ...(sessions > 0 && isNewestAccepted === false
      ? [`${id} has a session by an invitation that has ended`]
      : []),
    ...(accepted > 1 ? [`${id} has accepted ${accepted} invitations`] : []),
    ...(isErased && sessions + open > 0 ? [`${id} is erased and signed in or invited`] : []),
  ]);
}

/**
 * A request has taken as many places as there are deposits, and none after its end. Each deposit has its paste, with the
 * row that keeps its key, unless the request is gone.
 */
function findWrongDeposits({ takenAtEnd }: World, before: Snapshot, after: Snapshot): string[] {
  const isNew = (code: string) => !before.pastes.some((paste) => paste.code === code);
  const isDeposit = (code: string) => code.startsWith(DEPOSIT_CODE) || code.startsWith(KEYED_CODE);
  const made = after.pastes.map(({ code }) => code).filter((code) => isNew(code) && isDeposit(code));
  return after.requests.flatMap(({ code: request, places, taken, deposits }) => {
    const takenBefore = before.requests.find(({ code }) => code === request)?.taken ?? 0;
    const gone = deposits.filter((deposit) => !after.pastes.some(({ code }) => code === deposit));
    const keyless = made.filter((code) => !deposits.includes(code));
    const late = takenAtEnd.filter((end) => end !== taken);
    return [
      ...(taken > places ? [`${request} has ${taken} deposits in ${places} places`] : []),
      ...(taken === takenBefore + made.length
        ? []
        : [`${request} took ${taken - takenBefore} places for ${made.length} deposits`]),
      ...gone.map((code) => `the deposit ${code} has no paste`),
      ...keyless.map((code) => `the deposit ${code} has no key`),
      ...late.map((end) => `${request} had ${end} deposits at its end, and has ${taken}`),
    ];
  });
}

interface Event {
  readonly occurrence: string;
  /** One of them: which claim it was depends on the paste. */
  readonly types: readonly WebhookEventType[];
}

/**
 * What happens is told once to each endpoint that is on all the time, and nothing is told that has not happened. What
 * is open is open once, and nobody is told anything any more whose endpoint is gone.
 */
function findWrongEvents(before: Snapshot, after: Snapshot): string[] {
  const events = after.transitions.flatMap(({ machine, to, entity }) => eventOf(machine, to, entity));
  const isNew = ({ id }: { readonly id: string }) => !before.deliveries.some((each) => each.id === id);
  const stayedOn = after.endpoints.filter(
    ({ id, isOn }) => isOn && before.endpoints.some((each) => each.id === id && each.isOn),
  );
  const first = after.deliveries.filter(({ isAgain }) => !isAgain);
  const names = first.map(({ endpoint, type, occurrence }) => `${type} of ${occurrence} to ${endpoint}`);
  const open = after.deliveries.filter(({ isOpen }) => isOpen);
  return [
    ...names.filter((name, n) => names.indexOf(name) < n).map((name) => `${name} was told twice`),
    ...first
      .filter(isNew)
      .filter(({ type, occurrence }) => !events.some((each) => isOf(each, type, occurrence)))
      .map(({ type, occurrence }) => `${type} of ${occurrence} was told, and has not happened`),
    ...stayedOn.flatMap(({ id, events: wanted }) =>
      events
        .filter(({ types }) => types.some((type) => wanted.includes(type)))
        .filter(
          (event) =>
            !first.some(({ endpoint, type, occurrence }) => endpoint === id && isOf(event, type, occurrence)),
        )
        .map(({ types, occurrence }) => `${types.join(' or ')} of ${occurrence} was not told to ${id}`),
    ),
    ...open
      .filter(({ endpoint, event }, n) =>
        open.slice(0, n).some((each) => each.endpoint === endpoint && each.event === event),
      )
      .map(({ id }) => `the delivery ${id} sends again what another one sends`),
    ...after.deliveries
      .filter(({ endpoint }) => !after.endpoints.some(({ id }) => id === endpoint))
      .map(({ id }) => `the delivery ${id} has outlived its endpoint`),
  ];
}

function isOf({ occurrence, types }: Event, type: string, of: string): boolean {
  return occurrence === of && (types as readonly string[]).includes(type);
}

function eventOf(machine: Transition['machine'], to: string, occurrence: string): readonly Event[] {
  switch (`${machine} ${to}`) {
    case 'paste_upload PROCESSED':
      return [{ occurrence, types: ['paste.stored'] }];
    case 'paste_upload FAILED':
      return [{ occurrence, types: ['paste.failed'] }];
    case 'paste_deletion DELETION_IN_PROGRESS':
      return [{ occurrence, types: ['paste.read', 'paste.deleted', 'paste.expired'] }];
    case 'job completed':
    case 'job partial':
    case 'job failed':
      return [{ occurrence, types: ['job.ended'] }];
    default:
      return [];
  }
}
