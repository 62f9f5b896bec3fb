import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  spawnService,
  startSharedTestStack,
  type SharedTestStack,
  type SpawnedProcess,
} from '@pasteflow/dev-stack/testing';
import { InvalidTransitionError } from '@pasteflow/domain';
import { createDatabase, FORBIDDEN_CHANGE_SQLSTATE, type Database } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { installEmails } from '../src/install.ts';
import { claimEmail, rescueEmails, settleEmail } from '../src/statements.ts';

const ENTRY = fileURLToPath(new URL('../src/worker-main.ts', import.meta.url));

/** A mail server that takes the e-mails of one key once. It holds the first requests, and accepts the others. */
class MailServer {
  readonly held: ServerResponse[] = [];
  readonly accepted: string[] = [];
  readonly listening: Promise<unknown>;
  readonly #server: Server;

  constructor(hold: number) {
    this.#server = createServer((req, res) => {
      const key = String(req.headers['idempotency-key']);
      if (this.held.length < hold) this.held.push(res);
      else {
        if (!this.accepted.includes(key)) this.accepted.push(key);
        res.writeHead(202).end();
      }
    }).listen(0, '127.0.0.1');
    this.listening = once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/send`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

let stack: SharedTestStack;
let databaseUrl: string;
let db: Database;
let mail: MailServer;
const workers: SpawnedProcess[] = [];

beforeAll(async () => {
  stack = await startSharedTestStack();
  databaseUrl = (await createTestDatabase(stack)).url;
  db = createDatabase({
    url: databaseUrl,
    applicationName: 'test',
    maxConnections: 5,
    onConnectionError: () => {},
  });
  await installEmails(db);
  for (const name of ['emails', 'emails-dead-letters']) await createQueue(name);
});
beforeEach(async () => {
  mail = new MailServer(1);
  await mail.listening;
});
afterEach(async () => {
  for (const worker of workers.splice(0)) {
    worker.kill('SIGKILL');
    await worker.exited;
  }
  mail.stop();
  await sql`DELETE FROM emails`.execute(db);
});
afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

async function createQueue(QueueName: string): Promise<void> {
  const response = await fetch(stack.aws.endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'AmazonSQS.CreateQueue' },
    body: JSON.stringify({ QueueName }),
  });
  if (!response.ok) throw new Error(await response.text());
}

async function startWorker(): Promise<SpawnedProcess> {
  const worker = spawnService({
    entry: ENTRY,
    name: 'email-worker',
    env: {
      DATABASE_URL: databaseUrl,
      AWS_ENDPOINT_URL: stack.aws.endpoint,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      MAIL_URL: mail.url,
    },
  });
  workers.push(worker);
  await worker.waitFor(/service started/);
  return worker;
}

async function queueEmail(): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO emails (recipient, body) VALUES ('alice@example.com', 'Hello') RETURNING id`.execute(db);
  return rows[0]!.id;
}

async function statusOf(id: string): Promise<{ status: string; error: string | null }> {
  const { rows } = await sql<{ status: string; error: string | null }>`
    SELECT status, error FROM emails WHERE id = ${id}`.execute(db);
  return rows[0]!;
}

/** The audit trail, oldest first. */
async function transitionsOf(id: string): Promise<string[]> {
  const { rows } = await sql<{ made: string }>`
    SELECT "from" || ' ' || "to" || coalesce(': ' || reason, '') AS made FROM state_transitions
    WHERE machine = 'email' AND entity = ${id} ORDER BY id`.execute(db);
  return rows.map(({ made }) => made);
}

async function until<T>(probe: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error('not within 60 s');
    await sleep(20);
  }
}

/** Resolves to the response of the first request, which waits for its answer. */
const firstRequest = (): Promise<ServerResponse> => until(() => mail.held[0]);

const untilSent = (id: string): Promise<true> =>
  until(async () => ((await statusOf(id)).status === 'SENT' ? true : undefined));

describe('an e-mail', () => {
  it('is sent, after a retry when the mail server refuses it', async () => {
    const worker = await startWorker();
    const id = await queueEmail();
    (await firstRequest()).writeHead(500).end();
    await untilSent(id);
    expect(await transitionsOf(id)).toContain('SENDING QUEUED: the mail server answered 500');
    expect(mail.accepted).toEqual([id]);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
  });

  it('is sent once, by another worker, when its own is killed', async () => {
    const killed = await startWorker();
    const id = await queueEmail();
    await firstRequest();
    killed.kill('SIGKILL');
    await killed.exited;
    await startWorker();
    await untilSent(id);
    const transitions = await transitionsOf(id);
    expect(transitions.slice(0, 2)).toEqual(['QUEUED SENDING', 'SENDING QUEUED: worker lost']);
    expect(transitions.filter((each) => each.endsWith('SENT'))).toEqual(['SENDING SENT']);
    expect(mail.accepted).toEqual([id]);
  });

  it('keeps its outcome when a frozen worker wakes up late', async () => {
    const frozen = await startWorker();
    const id = await queueEmail();
    const response = await firstRequest();
    frozen.kill('SIGSTOP');
    await startWorker();
    await untilSent(id);
    response.writeHead(500).end();
    frozen.kill('SIGCONT');
    await frozen.waitFor(/attempt came too late/);
    expect(await statusOf(id)).toEqual({ status: 'SENT', error: null });
    expect((await transitionsOf(id)).at(-1)).toBe('SENDING SENT');
  });

  it('fails after six crashes', async () => {
    const id = await queueEmail();
    for (let crash = 1; crash <= 6; crash += 1) {
      expect(await claimEmail(db, id, -1)).toMatchObject({ attempt: crash });
      expect(await rescueEmails(db)).toBe(1);
    }
    expect(await statusOf(id)).toEqual({ status: 'FAILED', error: 'worker lost' });
  });
});

describe('a claim', () => {
  it('is given to one worker, and settled once', async () => {
    const id = await queueEmail();
    const claims = await Promise.all([1, 2, 3].map(() => claimEmail(db, id, 60)));
    const [claim, ...others] = claims.filter((each) => each !== null);
    expect(others).toEqual([]);
    expect(await settleEmail(db, claim!, null)).toBe(true);
    expect(await settleEmail(db, claim!, 'late')).toBe(false);
  });

  it('loses to the next claim, which has another token', async () => {
    const id = await queueEmail();
    const late = await claimEmail(db, id, -1);
    await rescueEmails(db);
    const current = await claimEmail(db, id, 60);
    expect(await settleEmail(db, late!, 'late')).toBe(false);
    expect(await settleEmail(db, current!, null)).toBe(true);
    expect(await statusOf(id)).toEqual({ status: 'SENT', error: null });
  });
});

describe('Postgres', () => {
  it('refuses what the table of states does not allow, from any client', async () => {
    const id = await queueEmail();
    const skipped = sql`UPDATE emails SET status = 'SENT' WHERE id = ${id}`;
    await expect(skipped.execute(db)).rejects.toThrow(InvalidTransitionError);
    const sent = sql`INSERT INTO emails (recipient, body, status) VALUES ('a@example.com', '', 'SENT')`;
    await expect(sent.execute(db)).rejects.toMatchObject({ code: FORBIDDEN_CHANGE_SQLSTATE });
    const changed = sql`UPDATE emails SET recipient = 'mallory@example.com' WHERE id = ${id}`;
    await expect(changed.execute(db)).rejects.toMatchObject({ code: FORBIDDEN_CHANGE_SQLSTATE });
  });
});
