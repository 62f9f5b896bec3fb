import { createHash } from 'node:crypto';
import {
  claimExecutions,
  createDatabase,
  createPaste,
  uploadSubject,
  type Database,
  type NewPaste,
} from '@pasteflow/postgres';
import { ReceiveGate } from '../../src/executions/receive-gate.ts';
import { RunningExecutions } from '../../src/executions/running-executions.ts';

export function openDatabase(url: string): Database {
  return createDatabase({
    url,
    applicationName: 'test',
    maxConnections: 4,
    connectTimeoutMs: 60_000,
    onConnectionError: () => {},
  });
}

/** An anonymous paste without options. */
export function newPaste(shortCode: string, content: Buffer = Buffer.from(shortCode)): NewPaste {
  return {
    shortCode,
    content,
    contentHash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    userId: null,
    visibility: 'unlisted',
    title: null,
    syntax: null,
    expiresInSeconds: null,
    deleteTokenHash: null,
  };
}

const LEASE_SECONDS = 60;

/** What the statements of a worker need, on a database of the test, and a list of the statements. */
export function workerOn(url: string) {
  const statements: { readonly text: string; readonly parameters: readonly unknown[] }[] = [];
  const db = createDatabase({
    url,
    applicationName: 'worker-under-test',
    maxConnections: 10,
    onConnectionError: () => {},
    onStatement: ({ query: { sql: text, parameters } }) => statements.push({ text, parameters }),
  });
  const running = new RunningExecutions({ db, leaseSeconds: LEASE_SECONDS });
  const graceOver = new AbortController().signal;
  const gate = new ReceiveGate(() => Promise.resolve(true));
  return { db, statements, running, graceOver, gate, actor: 'w', leaseSeconds: LEASE_SECONDS };
}

/** Uploads that this worker runs. @returns the ids of their executions */
export async function claimed(
  { db, running }: { readonly db: Database; readonly running: RunningExecutions },
  shortCodes: readonly string[],
): Promise<string[]> {
  for (const shortCode of shortCodes) await createPaste(db, newPaste(shortCode));
  const claims = await claimExecutions(db, uploadSubject, {
    keys: shortCodes,
    actor: 'w',
    leaseSeconds: LEASE_SECONDS,
  });
  return shortCodes.map((shortCode) => {
    const claim = claims.get(shortCode);
    if (claim?.kind !== 'claimed') throw new Error('not claimed');
    running.begin(claim.execution.executionId, running.now(), () => {});
    return claim.execution.executionId;
  });
}
