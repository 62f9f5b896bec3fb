import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import { revealOnce, type Reveal } from './reveal.ts';
import type { Secret } from './secrets.ts';

/**
 * Each paste that is deleted when it is read was read by exactly one of its readers, who have all repeated
 * their requests to the end, and one that nobody has read can still be read.
 * @returns one sentence for each broken promise
 */
export async function findBrokenSecrets(cluster: Cluster, secrets: readonly Secret[]): Promise<string[]> {
  const problems: string[] = [];
  for (const secret of secrets) {
    const { n, code, reveals } = secret;
    const told = (what: string): string =>
      `secret ${n}, ${code}, ${what}; its readers have got ${reveals.map(({ kind }) => kind).join(', ') || 'nothing'}`;
    problems.push(
      ...wrongAnswers(reveals).map(told),
      ...(await wrongReads(cluster, secret)).map(told),
      ...(await wrongLastReads(cluster, secret)).map(told),
    );
  }
  return [...problems, ...(await findWrongTrails(cluster, secrets))];
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
async function wrongReads(cluster: Cluster, secret: Secret): Promise<string[]> {
  const { status, body } = await cluster.http(secret.n % cluster.apis.length).read(secret.code);
  const isRight = status === (isRead(secret) ? 410 : 403) && !body.includes(secret.content);
  return isRight ? [] : [`answers ${status} with ${body.length} bytes to GET`];
}

async function wrongLastReads(cluster: Cluster, secret: Secret): Promise<string[]> {
  const last = await revealAtLast(cluster, secret, 'the reader after the faults');
  if (isRead(secret)) return last.kind === 'gone' ? [] : [`was revealed, and is answered ${last.kind} again`];
  if (last.kind !== 'content') return [`is lost: its first reader after the faults has got ${last.kind}`];
  const again = await revealAtLast(cluster, secret, 'the reader after the last one');
  return again.kind === 'gone' ? [] : [`was revealed after the faults, and is answered ${again.kind} again`];
}

/** Without faults, only a limit refuses. */
async function revealAtLast(cluster: Cluster, { n, code, content }: Secret, key: string): Promise<Reveal> {
  for (let tries = 1; ; tries += 1) {
    const reveal = await revealOnce(cluster.http(n % cluster.apis.length), code, content, key);
    if (reveal.kind !== 'again' || tries === 100) return reveal;
    await sleep(200);
  }
}

/** After the last reads, each paste was claimed for exactly one reader. */
async function findWrongTrails(cluster: Cluster, secrets: readonly Secret[]): Promise<string[]> {
  const rows = await cluster.rows.query<{ code: string; claims: number }>(
    `SELECT short_code AS code, count(t.id)::int AS claims
     FROM pastes p LEFT JOIN state_transitions t ON t.entity = p.id AND t.reason LIKE 'revealed%'
     WHERE short_code = ANY ($1) GROUP BY short_code HAVING count(t.id) <> 1`,
    [secrets.map(({ code }) => code)],
  );
  return rows.map(({ code, claims }) => `secret ${code} was claimed ${claims} times for a reader`);
}
