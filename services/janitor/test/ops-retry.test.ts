import { claimExecutions, retryFailed, uploadSubject } from '@pasteflow/postgres';
import { makePastes, type MadePaste } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { useWorld } from './world.ts';

const world = useWorld();

const HOUR = 3600;
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

/** FAILED pastes with their content. */
async function failed(
  count: number,
  secondsAgo = 60,
  expiresInSeconds = 86_400,
): Promise<readonly MadePaste[]> {
  const shape = { status: 'FAILED', createdSecondsAgo: secondsAgo, expiresInSeconds } as const;
  const pastes = await makePastes(world.db, count, shape);
  await sql`INSERT INTO failed_payloads SELECT id, 'content' FROM pastes WHERE status = 'FAILED' ON CONFLICT DO NOTHING`.execute(
    world.db,
  );
  return pastes;
}

const codesOf = (pastes: readonly MadePaste[]) => pastes.map(({ shortCode }) => shortCode).toSorted();
async function inState(status: string): Promise<string[]> {
  const rows = await world.db
    .selectFrom('pastes')
    .select('short_code')
    .where('status', '=', status as 'FAILED')
    .execute();
  return rows.map(({ short_code }) => short_code).toSorted();
}

describe('ops retry CODE', () => {
  it('retries the paste, and shows the operator and the reason in its timeline, before the new attempt', async () => {
    const [paste, other] = await failed(2);
    const { shortCode, id } = paste!;
    const args = ['retry', shortCode, '--reason', 'S3 is back'];
    const answer = await runOpsCommand(args, world.env);
    expect(answer).toEqual({ code: 0, stdout: `Retried ${shortCode}.\n`, stderr: '' });
    expect(await inState('IN_PROGRESS')).toEqual([shortCode]);
    expect(await inState('FAILED')).toEqual([other!.shortCode]);
    const claim = { keys: [shortCode], actor: 'upload-worker/a', leaseSeconds: 6 };
    await claimExecutions(world.db, uploadSubject, claim);
    const { stdout } = await runOpsCommand(['timeline', shortCode], world.env);
    expect(stdout).toMatch(/^\S+ +\S+ s +retry [^]*attempt 1 +PENDING → RUNNING +upload-worker\/a/m);
    const line = new RegExp(
      `retry +FAILED paste ${id} replaced +pasteflow_janitor \\(ops/\\S+@\\S+\\) +S3 is back$`,
      'm',
    );
    expect(stdout).toMatch(line);
    const json = await runOpsCommand(['timeline', shortCode, '--json'], world.env);
    expect(JSON.parse(json.stdout)).toMatchObject({
      retries: [
        { from: id, actor: expect.stringMatching(/^pasteflow_janitor \(ops\/\S+\)$/), reason: 'S3 is back' },
      ],
    });
  });

  it('leaves the expiry of the paste as it was, and gives it a new time of creation', async () => {
    const [paste] = await failed(1, 23 * HOUR, HOUR);
    const times = async () => {
      const { shortCode } = paste!;
      const columns = ['created_at', 'expires_at'] as const;
      return world.db
        .selectFrom('pastes')
        .select(columns)
        .where('short_code', '=', shortCode)
        .executeTakeFirstOrThrow();
    };
    const before = await times();
    await runOpsCommand(['retry', paste!.shortCode], world.env);
    const after = await times();
    expect(after.expires_at).toEqual(before.expires_at);
    expect(after.created_at.getTime() - before.created_at.getTime()).toBeGreaterThanOrEqual(23 * HOUR * 1000);
  });

  it('exits with 1 for a paste that cannot be retried, and says how to find out why', async () => {
    const [stored] = await makePastes(world.db, 1, { status: 'PROCESSED' });
    for (const code of [stored!.shortCode, 'nothing']) {
      const { code: exit, stderr } = await runOpsCommand(['retry', code], world.env);
      expect([exit, stderr]).toEqual([1, expect.stringContaining(`npm run ops -- timeline ${code}`)]);
    }
    expect(await inState('PROCESSED')).toEqual([stored!.shortCode]);
  });
});

describe('ops retry --all-failed-since', () => {
  it('only counts the pastes without --yes', async () => {
    const pastes = await failed(3);
    const { code, stdout, stderr } = await runOpsCommand(
      ['retry', '--all-failed-since', ago(HOUR)],
      world.env,
    );
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^3 FAILED pastes that failed since \S+Z can be retried\.\n$/),
    ]);
    expect(stderr).toBe('ops: nothing was changed. To retry them, repeat the command with --yes\n');
    const json = await runOpsCommand(['retry', '--all-failed-since', ago(HOUR), '--json'], world.env);
    expect([json.code, JSON.parse(json.stdout)]).toEqual([1, { retryable: 3 }]);
    expect(await inState('FAILED')).toEqual(codesOf(pastes));
  });

  it('retries those that failed since the time and have not expired, and counts those that others have locked', async () => {
    const recent = await failed(3);
    const early = await failed(2, 2 * HOUR);
    const expired = await failed(1, 60, -1);
    const locked = await world.db.startTransaction().execute();
    await sql`SELECT FROM pastes WHERE id = ${recent[0]!.id} FOR UPDATE`.execute(locked);
    const args = ['retry', '--all-failed-since', ago(HOUR), '--yes'];
    const { code, stdout } = await runOpsCommand(args, world.env);
    await locked.commit().execute();
    expect([code, stdout]).toEqual([0, 'Retried 2, skipped 1.\n']);
    expect(await inState('IN_PROGRESS')).toEqual(codesOf(recent.slice(1)));
    expect(await inState('FAILED')).toEqual(codesOf([recent[0]!, ...early, ...expired]));
    expect((await runOpsCommand([...args, '--json'], world.env)).stdout).toBe(
      `${JSON.stringify({ retried: 1, skipped: 0 }, null, 2)}\n`,
    );
    // Nothing is left to confirm
    expect(await runOpsCommand(args.slice(0, -1), world.env)).toMatchObject({ code: 0 });
  });

  it('retries each of many once while another operator does the same, and shows its progress', async () => {
    await failed(2350);
    const lines: string[] = [];
    const args = ['retry', '--all-failed-since', ago(HOUR), '--yes', '--json'];
    const answers = await Promise.all([
      runOpsCommand(args, world.env, (line) => lines.push(line)),
      runOpsCommand(args, world.env),
    ]);
    const counts = answers.map(({ stdout }) => JSON.parse(stdout) as { retried: number });
    expect(counts.reduce((sum, { retried }) => sum + retried, 0)).toBe(2350);
    expect(await inState('FAILED')).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(2);
    const alone: string[] = [];
    await world.reset();
    await failed(2350);
    await runOpsCommand(args, world.env, (line) => alone.push(line));
    expect(alone).toEqual([1000, 2000].map((n) => `ops: ${n} of 2350 pastes: retried ${n}, skipped 0`));
  });

  it('retries the others after a run that was cut off', async () => {
    const pastes = await failed(5);
    await retryFailed(world.db, [pastes[0]!.shortCode], { actor: 'ops/a', reason: null });
    const args = ['retry', '--all-failed-since', ago(HOUR), '--yes'];
    expect((await runOpsCommand(args, world.env)).stdout).toBe('Retried 4, skipped 0.\n');
  });
});
