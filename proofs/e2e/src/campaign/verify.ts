import { createHash } from 'node:crypto';
import { problemOfTrail, type TrailEntry } from '@pasteflow/protocol';
import type { Cluster } from '../cluster.ts';
import type { CampaignLoad, Import, Secret } from './load.ts';
import { contentOf, itemsOf, titleOf } from './plan.ts';
import type { Reveal, User } from './user.ts';
import type { Rows } from '../rows.ts';

/** Compares the system with the answers of the api. @returns one sentence for each broken promise */
export async function findBrokenPromises(
  cluster: Cluster,
  user: User,
  { pasted, imports }: CampaignLoad,
  seed: number,
): Promise<string[]> {
  return [
    ...(await findWrongContent(cluster, user, pasted, seed)),
    ...(await user.fileReads.findProblems(pasted.filter(({ fate }) => fate === 'kept'))),
    ...(await findDoubles(cluster, imports, seed)),
    ...(await findWrongEnds(cluster, imports)),
    ...(await findWrongTrails(cluster.rows)),
  ];
}

const STATUS_OF = { kept: 200, deleted: 410, 'taken down': 451 } as const;

async function findWrongContent(
  cluster: Cluster,
  user: User,
  pasted: CampaignLoad['pasted'],
  seed: number,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { n, code, fate } of pasted) {
    const { status, body } = await user.read(n, code);
    const isRight = status === STATUS_OF[fate] && (fate !== 'kept' || body.equals(contentOf(seed, n)));
    if (isRight) continue;
    const state = await cluster
      .paste(code)
      .then(({ status, failure_reason: reason }) => `it is ${status}, ${reason}`, String);
    problems.push(`paste ${n}, ${code}, answers ${status} with ${body.length} bytes; ${state}`);
  }
  return problems;
}

const hashOf = (content: string): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** The title of a deleted paste is removed, so its row is not counted. */
async function findDoubles(cluster: Cluster, imports: readonly Import[], seed: number): Promise<string[]> {
  const rows = await cluster.rows.query<{ title: string; count: number; hash: string }>(
    `SELECT title, count(*)::int AS count, min(content_hash) AS hash FROM pastes
     WHERE title LIKE $1 GROUP BY title`,
    [`campaign ${seed} %`],
  );
  const problems = rows
    .filter(({ count }) => count > 1)
    .map(({ title, count }) => `${count} pastes are "${title}"`);
  const hashes = new Map(rows.map(({ title, hash }) => [title, hash]));
  for (const { n, madeBeforeCancel } of imports) {
    const items = itemsOf(seed, n);
    const made = items.filter(({ title, content }) => hashes.get(title) === hashOf(content)).length;
    const promised = madeBeforeCancel ?? items.length;
    if (made !== promised)
      problems.push(`${made} pastes of job ${n} are there with their content, and not ${promised}`);
  }
  if (rows.length === 0) problems.push(`no paste is called like "${titleOf(seed, 1)}"`);
  return problems;
}

/** A job ends as completed. A cancelled one ends as cancelled, although its worker may still have run. */
async function findWrongEnds(cluster: Cluster, imports: readonly Import[]): Promise<string[]> {
  const idsOf = (cancelled: boolean): string[] =>
    imports
      .filter(({ madeBeforeCancel }) => (madeBeforeCancel !== undefined) === cancelled)
      .map(({ id }) => id);
  const rows = await cluster.rows.query<{ id: string; end: string }>(
    `SELECT id, concat_ws(': ', status, error_message) AS "end" FROM jobs
     WHERE id = ANY ($1::uuid[]) AND status <> 'completed'
       OR id = ANY ($2::uuid[]) AND (status NOT IN ('failed', 'partial') OR error_message NOT LIKE 'cancelled%')`,
    [idsOf(false), idsOf(true)],
  );
  return rows.map(
    ({ id, end }) => `job ${id} ${idsOf(true).includes(id) ? 'was cancelled and ' : ''}is ${end}`,
  );
}

interface Trail {
  readonly code: string;
  readonly status: string;
  readonly deletion: string;
  readonly entries: readonly TrailEntry[];
}

/** The transitions of each paste and of its executions are a trace of the model of the protocol. */
export async function findWrongTrails(rows: Rows): Promise<string[]> {
  const trails = await rows.query<Trail>(`
    WITH of_paste AS (
      SELECT p.id AS paste, p.id AS entity, NULL::json AS execution FROM pastes p
      UNION ALL
      SELECT e.subject_id, e.id, json_build_object('id', e.id, 'attempt', e.attempt, 'losses', e.losses)
      FROM task_executions e WHERE e.kind = 'upload'
    ), trail AS (
      SELECT paste, json_agg(json_build_object('machine', machine, 'from', "from", 'to', "to",
        'reason', reason, 'execution', execution) ORDER BY t.id) AS entries
      FROM of_paste JOIN state_transitions t USING (entity) GROUP BY paste
    )
    SELECT short_code AS code, status, deletion_status AS deletion, coalesce(entries, '[]') AS entries
    FROM pastes LEFT JOIN trail ON paste = id`);
  return trails.flatMap(({ code, entries, ...present }) => {
    const problem = problemOfTrail(entries, present);
    return problem === null ? [] : [`the trail of paste ${code} is no trace of the model: ${problem}`];
  });
}

/**
 * Each paste that is deleted when it is read was read by exactly one of its readers, who have all repeated
 * their requests until it was or they gave up, and one that nobody has read can still be read.
 * @returns one sentence for each broken promise
 */
export async function findBrokenSecrets(
  cluster: Cluster,
  user: User,
  secrets: readonly Secret[],
  seed: number,
): Promise<string[]> {
  const problems: string[] = [];
  for (const secret of secrets) {
    const { n, code, reveals } = secret;
    const told = (what: string): string =>
      `secret ${n}, ${code}, ${what}; its readers have got ${kindsOf(reveals) || 'nothing'}`;
    problems.push(
      ...wrongAnswers(reveals).map(told),
      ...(await wrongReads(user, secret, seed)).map(told),
      ...(await wrongLastReads(user, secret)).map(told),
    );
  }
  return [...problems, ...(await findWrongClaims(cluster, secrets))];
}

/** A sentence for the report. */
export function summaryOf(secrets: readonly Secret[], lostAnswers: number): string {
  const read = secrets.filter(isRead).length;
  const repeated = secrets.filter((secret) => isRead(secret) && count(secret.reveals, 'again') > 0).length;
  return (
    `${read} pastes were revealed, ${repeated} of them to readers who repeated requests; nobody tried to read the other ${secrets.length - read}; ` +
    `${lostAnswers} claims lost their answers`
  );
}

const count = (reveals: readonly Reveal[], kind: Reveal['kind']): number =>
  reveals.filter((reveal) => reveal.kind === kind).length;
/** A reader who gives up has got the same hundreds of times. */
const kindsOf = (reveals: readonly Reveal[]): string =>
  [...new Set(reveals.map(({ kind }) => kind))].map((kind) => `${count(reveals, kind)} ${kind}`).join(', ');
const isRead = ({ reveals }: Secret): boolean => count(reveals, 'content') > 0;

function wrongAnswers(reveals: readonly Reveal[]): string[] {
  const contents = count(reveals, 'content');
  return [
    ...reveals.flatMap((reveal) => (reveal.kind === 'wrong' ? [`was answered ${reveal.answer}`] : [])),
    ...(contents > 1 ? [`was revealed ${contents} times`] : []),
    ...(contents === 0 && reveals.length > 0 ? ['was read by none of its readers'] : []),
  ];
}

/** GET never reads it. */
async function wrongReads(user: User, secret: Secret, seed: number): Promise<string[]> {
  const { status, body } = await user.read(secret.n, secret.code);
  const isRight = status === (isRead(secret) ? 410 : 403) && !body.includes(contentOf(seed, secret.n));
  return isRight ? [] : [`answers ${status} with ${body.length} bytes to GET`];
}

/** Readers after the faults. */
const LAST_READERS = [100, 101] as const;

async function wrongLastReads(user: User, secret: Secret): Promise<string[]> {
  const reveal = async (reader: number): Promise<Reveal['kind'] | undefined> =>
    (await user.reveal(secret.n, secret.code, reader, (tries) => tries === 100)).at(-1)?.kind; // without faults, only a limit refuses
  const last = await reveal(LAST_READERS[0]);
  if (isRead(secret)) return last === 'gone' ? [] : [`was revealed, and is answered ${last} again`];
  if (last !== 'content') return [`is lost: its first reader after the faults has got ${last}`];
  const again = await reveal(LAST_READERS[1]);
  return again === 'gone' ? [] : [`was revealed after the faults, and is answered ${again} again`];
}

/** After the last reads, each paste was claimed for exactly one reader. */
async function findWrongClaims(cluster: Cluster, secrets: readonly Secret[]): Promise<string[]> {
  const rows = await cluster.rows.query<{ code: string; claims: number }>(
    `SELECT short_code AS code, count(t.id)::int AS claims
     FROM pastes p LEFT JOIN state_transitions t ON t.entity = p.id AND t.reason LIKE 'revealed%'
     WHERE short_code = ANY ($1) GROUP BY short_code HAVING count(t.id) <> 1`,
    [secrets.map(({ code }) => code)],
  );
  return rows.map(({ code, claims }) => `secret ${code} was claimed ${claims} times for a reader`);
}
