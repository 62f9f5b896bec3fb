import { createHmac } from 'node:crypto';
import { Client } from 'pg';

/** The role as which each service connects. `npm run migrate` gives them their rights. */
const ROLES = {
  api: 'pasteflow_api',
  'upload-worker': 'pasteflow_worker',
  janitor: 'pasteflow_janitor',
} as const;

export type ServiceOfRole = keyof typeof ROLES;

/**
 * The URL with which a service connects, from that of the superuser of an embedded Postgres. The password of
 * a role follows from the superuser's, so that it need not be kept anywhere, and not the other way round.
 */
export function urlOfService(superuserUrl: string, service: ServiceOfRole): string {
  const url = new URL(superuserUrl);
  const role = ROLES[service];
  url.password = createHmac('sha256', url.password).update(role).digest('hex');
  url.username = role;
  return url.href;
}

/**
 * Creates the roles of the services, with their passwords. Roles that exist keep the password that they have.
 */
export async function createServiceRoles(superuserUrl: string): Promise<void> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>('SELECT rolname AS name FROM pg_roles');
    for (const service of Object.keys(ROLES) as ServiceOfRole[]) {
      const { username, password } = new URL(urlOfService(superuserUrl, service));
      if (rows.some(({ name }) => name === username)) continue;
      await client.query(`CREATE ROLE ${username} LOGIN PASSWORD '${password}'`);
    }
  } finally {
    await client.end();
  }
}
