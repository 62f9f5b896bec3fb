/**
 * Why a transition was made, in one word. The list is closed: this word is what strangers see of a reason.
 */
export const reasonClasses = [
  /** A worker has claimed the execution. */
  'claimed',
  /** The worker stopped before the attempt ended. With a text: it stopped so often that the job has ended. */
  'interrupted',
  /** The job lets uploads of its user end before it makes more. */
  'yielded',
  /** The worker crashed, or lost its connection to Postgres for longer than its lease. */
  'worker_lost',
  /** The message of the execution was received too often without an outcome. */
  'dead_letter',
  /** The workers of a job were lost as often as the retry policy allows. */
  'lost_too_often',
  /** The object store did not answer, or it answered that it has failed. */
  'storage_unavailable',
  /** The object store refused the request. */
  'storage_refused',
  /** Postgres did not answer. */
  'database_unavailable',
  /** The content that waits in Postgres is missing or damaged. */
  'content_damaged',
  /** The work of a job itself reports why it failed. */
  'work_failed',
  /** The owner of the job or an operator has cancelled it. */
  'cancelled',
  /** A defect of the service, or an error that nobody has classified. */
  'internal',
  'expired',
  'object_deleted',
  /** Somebody has read a paste that is deleted when it is read. */
  'revealed',
  /** The endpoint of a webhook did not take a delivery. */
  'endpoint_failed',
  /** The endpoint of a webhook is removed or switched off. */
  'endpoint_off',
  /** A sweep held its claim for too long. */
  'claimed_too_long',
  /** The work had no open execution, and the janitor has given it one. */
  'stranded',
  /** An operator has replaced the FAILED paste by a new one, which is uploaded again. */
  'retried',
  /** The reason of plain SQL, or of another release. */
  'other',
] as const;

type ReasonClass = (typeof reasonClasses)[number];

/**
 * Classes whose text is written for the owner of the paste or job. The texts of all others may have names of
 * hosts, modules and processes, and are for operators.
 */
const textIsForOwner: ReadonlySet<ReasonClass> = new Set([
  'interrupted',
  'dead_letter',
  'lost_too_often',
  'storage_unavailable',
  'storage_refused',
  'content_damaged',
  'work_failed',
  'cancelled',
  'retried',
  'endpoint_failed',
]);

export interface Reason {
  readonly class: ReasonClass;
  /** null: the class says everything. */
  readonly text: string | null;
}

/** The words of a class, as they begin a stored reason: `storage unavailable`. */
export function wordsOf(reasonClass: ReasonClass): string {
  return reasonClass.replaceAll('_', ' ');
}

/**
 * A reason as it is stored: `storage unavailable: S3 answered 500`. The text is for operators, and see
 * `textForOwner`.
 */
export function storedReason(reasonClass: Exclude<ReasonClass, 'other'>, text: string): string {
  return `${wordsOf(reasonClass)}: ${text}`;
}

/** How the text of `storage_refused` begins when S3 refuses everything that this service sends. */
export const ALL_REFUSED = 'S3 refuses all uploads';

/** Reads a stored reason, from any source: what doesn't begin with the words of a class is `other`. */
export function parseReason(stored: string): Reason {
  const colon = stored.indexOf(': ');
  const words = colon === -1 ? stored : stored.slice(0, colon);
  const found = reasonClasses.find((each) => each !== 'other' && wordsOf(each) === words);
  if (found === undefined) return { class: 'other', text: stored };
  return { class: found, text: colon === -1 ? null : stored.slice(colon + 2) };
}

/**
 * Reads the `error_message` of a job: the reason of its last attempt, or the text with which its work has
 * ended.
 */
export function parseJobReason(stored: string): Reason {
  const reason = parseReason(stored);
  return reason.class === 'other' ? { class: 'work_failed', text: stored } : reason;
}

/**
 * The text for the owner of the paste or job: without names of hosts, modules and processes. null: there is
 * none.
 */
export function textForOwner({ class: reasonClass, text }: Reason): string | null {
  if (text !== null && textIsForOwner.has(reasonClass)) return text;
  return reasonClass === 'other' ? null : wordsOf(reasonClass);
}

/** Who made a transition, in one word. */
export const actorClasses = ['api', 'worker', 'janitor', 'operator'] as const;

type ActorClass = (typeof actorClasses)[number];

const classOfService: ReadonlyMap<string, ActorClass> = new Map([
  ['api', 'api'],
  ['upload-worker', 'worker'],
  ['janitor', 'janitor'],
]);

/**
 * @param actor `<service>/<instance>`, or `<database user> (<service>/<instance>)`; everything else is an
 *   operator's command or plain SQL
 */
export function actorClassOf(actor: string): ActorClass {
  const process = actor.endsWith(')') ? actor.slice(actor.indexOf('(') + 1, -1) : actor;
  const [service = '', instance] = process.split('/', 2);
  return (instance === undefined ? undefined : classOfService.get(service)) ?? 'operator';
}

/**
 * Why an operator takes a paste down or blocks its content, and why somebody reports a paste, in one word. The list is closed: this word is
 * what readers see. The reason in the operator's own words is for operators only.
 */
export const takedownClasses = [
  /** A court or an authority demands it, or the law plainly does. */
  'illegal',
  'copyright',
  'malware',
  'phishing',
  /** Data about a person who did not agree, or credentials that leaked. */
  'personal_data',
  'spam',
  'other',
] as const;

export type TakedownClass = (typeof takedownClasses)[number];
