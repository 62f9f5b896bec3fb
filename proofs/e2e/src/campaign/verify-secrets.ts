import type { Cluster } from '../cluster.ts';
import type { Secret } from './load.ts';
import { contentOf } from './plan.ts';
import type { Reveal, User } from './user.ts';

/**
 * Each paste that is deleted when it is read was read by exactly one of its readers, who have all repeated
 * their requests to the end, and one that nobody has read can still be read.
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
      `secret ${n}, ${code}, ${what}; its readers have got ${reveals.map(({ kind }) => kind).join(', ') || 'nothing'}`;
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
    (await user.reveal(secret.n, secret.code, reader, 100)).at(-1)?.kind; // without faults, only a limit refuses
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
