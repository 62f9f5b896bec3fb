import { urlOfService } from '@pasteflow/dev-stack/testing';
import { Client } from 'pg';
import type { ServiceRole } from '../../src/roles/role-names.ts';

const serviceOf = {
  pasteflow_api: 'api',
  pasteflow_worker: 'upload-worker',
  pasteflow_janitor: 'janitor',
} as const;

export function urlOfRole(superuserUrl: string, role: ServiceRole): string {
  return urlOfService(superuserUrl, serviceOf[role]);
}

/** Runs the statements on one connection. @returns the SQLSTATE of the first that fails; null: none failed */
export async function sqlStateOf(url: string, ...statements: string[]): Promise<string | null> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.end();
  }
}
