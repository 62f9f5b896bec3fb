import { sql, type Kysely } from 'kysely';
import type { Schema } from '../schema/schema.ts';
import { describePrivilege, privilegesOf, type Privilege } from './privileges.ts';
import { comparePrivileges, existingRoles } from './rights-gaps.ts';

/**
 * Makes the rights in the database those of rights.ts, in one transaction: a running service never finds
 * fewer. Needs the owner of the tables, a member of the owner or a superuser. Locks no table. What is right
 * already is not changed.
 */
export async function grantRights(db: Kysely<Schema>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.enforcement'))`.execute(tx);
    const { missing, excess } = await comparePrivileges(tx);
    const wanted = (await existingRoles(tx)).flatMap(privilegesOf);
    const changed = new Set([...missing, ...excess].map(placeOf));
    const statements = [
      ...[...changed].map((place) => `REVOKE ALL ON ${place.replace(' TO ', ' FROM ')}`),
      ...grantsOf(wanted.filter((privilege) => changed.has(placeOf(privilege)))),
    ];
    if (statements.length > 0) await sql.raw(statements.join(';\n')).execute(tx);
  });
}

/** One GRANT for each action of a role on an object, with all of its columns. */
function grantsOf(privileges: readonly Privilege[]): readonly string[] {
  const groups = Map.groupBy(privileges, (privilege) =>
    describePrivilege({ ...privilege, column: privilege.column === null ? null : '…' }),
  );
  return [...groups.values()].map((group) => {
    const [{ action, column } = { action: '', column: null }] = group;
    const columns = column === null ? '' : ` (${group.map((each) => quote(each.column ?? '')).join(', ')})`;
    return `GRANT ${action}${columns} ON ${placeOf(group[0] as Privilege)}`;
  });
}

/** `pastes TO pasteflow_api`, as GRANT names it. */
function placeOf({ kind, object, role }: Privilege): string {
  const prefix = kind === 'function' ? 'FUNCTION ' : '';
  return `${prefix}${quote(object)} TO ${role === 'PUBLIC' ? role : quote(role)}`;
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
