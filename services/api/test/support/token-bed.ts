import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandResult } from '@pasteflow/service-kit';
import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  createTestDatabase,
  startSharedTestPostgres,
  urlOfService,
  type SharedTestPostgres,
} from '@pasteflow/dev-stack/testing';
import { createDatabase, type Database } from '@pasteflow/postgres';
import { hashOfSecret } from '../../src/http/callers/secret.ts';
import { runTokenCommand } from '../../src/tokens/token-command.ts';

export interface TokenBed {
  readonly stack: SharedTestPostgres;
  readonly databaseUrl: string;
  readonly db: Database;
  /** Empty, and removed at the end. */
  readonly folder: string;
  /** `npm run token -- ARGS`, with DATABASE_URL set. */
  readonly run: (...args: string[]) => Promise<CommandResult>;
  /** The token that it prints. */
  readonly made: (...args: string[]) => Promise<string>;
  readonly rowOf: (token: string) => ReturnType<typeof rowOf>;
}

/** A migrated database and a folder for the whole test file. */
export function useTokenCommand(): TokenBed {
  const bed = {} as { -readonly [Key in keyof TokenBed]: TokenBed[Key] };
  bed.run = (...args) => runTokenCommand(args, { DATABASE_URL: urlOfService(bed.databaseUrl, 'api') });
  bed.made = async (...args) => {
    const { code, stdout } = await bed.run(...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pf_[\w-]{43}\n$/);
    return stdout.trim();
  };
  bed.rowOf = (token) => rowOf(bed.db, token);
  beforeAll(async () => {
    bed.folder = mkdtempSync(join(tmpdir(), 'pasteflow-token-'));
    bed.stack = await startSharedTestPostgres();
    bed.databaseUrl = (await createTestDatabase(bed.stack)).url;
    bed.db = open(bed.databaseUrl);
  });
  afterAll(async () => {
    await bed.db?.destroy();
    await bed.stack?.stop();
    rmSync(bed.folder, { recursive: true, force: true });
  });
  return bed;
}

function open(url: string): Database {
  return createDatabase({ url, applicationName: 'test', maxConnections: 2, onConnectionError: () => {} });
}

function rowOf(db: Database, token: string) {
  return db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'user_id')
    .selectAll('api_tokens')
    .select('users.name as user_name')
    .where('token_hash', '=', hashOfSecret(token))
    .executeTakeFirstOrThrow();
}
