import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import { revealOnce, type Reveal } from './reveal.ts';
import type { Secret } from './secrets.ts';

/**
 * Each paste that is deleted when it is read was read by at most one reader, and one that nobody has read can still be read. When an
 * answer was cut, the paste may be gone without a reader: then the audit trail must have the claim.
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

/** How many pastes are gone, or may be, although no reader has got the content: a sentence for the report. */
export function summaryOf(secrets: readonly Secret[]): string {
  const [read, cut, unread] = [
    secrets.filter(isRead),
    secrets.filter((secret) => !isRead(secret) && isCut(secret)),
    secrets.filter((secret) => !isRead(secret) && !isCut(secret)),
  ].map(({ length }) => length);
  return `${read} pastes were revealed, ${unread} by nobody, and of ${cut} each answer was cut`;
}

const count = (reveals: readonly Reveal[], kind: Reveal['kind']): number =>
  reveals.filter((reveal) => reveal.kind === kind).length;
const isRead = ({ reveals }: Secret): boolean => count(reveals, 'content') > 0;
const isCut = ({ reveals }: Secret): boolean => count(reveals, 'cut') > 0;

function wrongAnswers(reveals: readonly Reveal[]): string[] {
  const contents = count(reveals, 'content');
  return [
    ...reveals.flatMap((reveal) => (reveal.kind === 'wrong' ? [`was answered ${reveal.answer}`] : [])),
    ...(contents > 1 ? [`was revealed ${contents} times`] : []),
  ];
}

/** GET never reads it. */
async function wrongReads(cluster: Cluster, secret: Secret): Promise<string[]> {
  const { status, body } = await cluster.http(secret.n % cluster.apis.length).read(secret.code);
  const allowed = isRead(secret) ? [410] : isCut(secret) ? [403, 410] : [403];
  return allowed.includes(status) && !body.includes(secret.content)
    ? []
    : [`answers ${status} with ${body.length} bytes to GET`];
}

async function wrongLastReads(cluster: Cluster, secret: Secret): Promise<string[]> {
  const last = await revealAtLast(cluster, secret);
  if (isRead(secret)) return last.kind === 'gone' ? [] : [`was revealed, and is answered ${last.kind} again`];
  if (last.kind === 'gone' && isCut(secret)) return [];
  if (last.kind !== 'content') return [`is lost: its first reader after the faults has got ${last.kind}`];
  const again = await revealAtLast(cluster, secret);
  return again.kind === 'gone' ? [] : [`was revealed after the faults, and is answered ${again.kind} again`];
}

/** Without faults, only a limit refuses. */
async function revealAtLast(cluster: Cluster, { n, code, content }: Secret): Promise<Reveal> {
  for (let tries = 1; ; tries += 1) {
    const reveal = await revealOnce(cluster.http(n % cluster.apis.length), code, content);
    if (reveal.kind !== 'refused' || tries === 100) return reveal;
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
