import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  canTransition,
  InvalidTransitionError,
  machines,
  pasteUpload,
  statesOf,
  type Machine,
} from '@pasteflow/domain';
import { sql } from 'kysely';
import { Client } from 'pg';
import { INVALID_TRANSITION_SQLSTATE, installStateMachines } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { insertInState, insertReferenced, updateToState } from '../support/state-rows.ts';

const current = useDatabase({ fresh: 'file' });

beforeEach(async () => {
  await insertReferenced(current.db);
});

async function asPlainSql(statement: string): Promise<{ code: string | null; rows: number }> {
  const client = new Client({ connectionString: current.url });
  await client.connect();
  try {
    return { code: null, rows: (await client.query(statement)).rowCount ?? 0 };
  } catch (error) {
    return { code: (error as { code: string }).code, rows: 0 };
  } finally {
    await client.end();
  }
}

describe.each(machines)('the database, for any client: $name', (machine) => {
  const states = statesOf<Machine>(machine);
  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const));

  it.each(pairs)('allows or refuses %s → %s as the table does', async (from, to) => {
    const { id } = await insertInState(current.db, machine, from);
    const { code, rows } = await asPlainSql(updateToState(machine, id, to));
    if (from === to || canTransition<Machine>(machine, from, to))
      expect({ code, rows }).toEqual({ code: null, rows: 1 });
    else expect(code).toBe(INVALID_TRANSITION_SQLSTATE);
  });

  it('refuses a state that is not in the table, on insert and on update', async () => {
    const { table, column } = machine.storedIn;
    const { id } = await insertInState(current.db, machine, machine.initial);
    const update = await asPlainSql(`UPDATE ${table} SET ${column} = 'NOWHERE' WHERE id = '${id}'`);
    expect(update.code).toBe(INVALID_TRANSITION_SQLSTATE);
    await expect(insertInState(current.db, machine, 'NOWHERE')).rejects.toMatchObject({ code: '23514' });
  });

  it('refuses NULL', async () => {
    const { table, column } = machine.storedIn;
    const { id } = await insertInState(current.db, machine, machine.initial);
    const { code } = await asPlainSql(`UPDATE ${table} SET ${column} = NULL WHERE id = '${id}'`);
    expect(code).not.toBeNull();
  });
});

describe('the typed error', () => {
  it('names both states when the database refuses a transition', async () => {
    const { id } = await insertInState(current.db, pasteUpload, 'PROCESSED');
    const change = sql.raw(updateToState(pasteUpload, id, 'FAILED')).execute(current.db);
    await expect(change).rejects.toThrow("Cannot transition from 'PROCESSED' to 'FAILED'");
    await expect(
      sql.raw(updateToState(pasteUpload, id, 'FAILED')).execute(current.db),
    ).rejects.toBeInstanceOf(InvalidTransitionError);
  });
});

describe('installing the state machines', () => {
  const widened: Machine = {
    ...pasteUpload,
    states: {
      ...pasteUpload.states,
      FAILED: { meaning: 'may be tried again', to: ['IN_PROGRESS'] },
    },
  };

  it('installs the given table, and the previous one again', async () => {
    const { id } = await insertInState(current.db, pasteUpload, 'FAILED');
    const again = updateToState(pasteUpload, id, 'IN_PROGRESS');
    await installStateMachines(current.db, [widened]);
    expect((await asPlainSql(again)).code).toBeNull();
    await installStateMachines(current.db);
    const { id: other } = await insertInState(current.db, pasteUpload, 'FAILED');
    expect((await asPlainSql(updateToState(pasteUpload, other, 'IN_PROGRESS'))).code).toBe(
      INVALID_TRANSITION_SQLSTATE,
    );
  });

  it('reinstalls triggers and CHECKs that were dropped by hand', async () => {
    await sql`DROP TRIGGER guard_paste_upload ON pastes`.execute(current.db);
    await sql`ALTER TABLE pastes DROP CONSTRAINT pastes_status_states`.execute(current.db);
    await installStateMachines(current.db);
    const { id } = await insertInState(current.db, pasteUpload, 'PROCESSED');
    expect((await asPlainSql(updateToState(pasteUpload, id, 'FAILED'))).code).toBe(
      INVALID_TRANSITION_SQLSTATE,
    );
    const { rows } = await sql`SELECT FROM pg_constraint WHERE conname = 'pastes_status_states'`.execute(
      current.db,
    );
    expect(rows).toHaveLength(1);
  });
});

describe('state_transitions', () => {
  it('records a transition made by plain SQL, with its actor', async () => {
    const { id } = await insertInState(current.db, pasteUpload, 'IN_PROGRESS');
    await asPlainSql(updateToState(pasteUpload, id, 'FAILED'));
    const { rows } = await sql`SELECT machine, entity, "from", "to", actor, reason FROM state_transitions
      WHERE entity = ${id}`.execute(current.db);
    expect(rows).toEqual([
      {
        machine: 'paste_upload',
        entity: id,
        from: 'IN_PROGRESS',
        to: 'FAILED',
        actor: 'postgres (sql)',
        reason: 'why',
      },
    ]);
  });

  it('has no row for an update that keeps the state, and none for a refused update', async () => {
    const { id } = await insertInState(current.db, pasteUpload, 'PROCESSED');
    await asPlainSql(updateToState(pasteUpload, id, 'PROCESSED'));
    await asPlainSql(updateToState(pasteUpload, id, 'FAILED'));
    const { rows } = await sql`SELECT FROM state_transitions WHERE entity = ${id}`.execute(current.db);
    expect(rows).toHaveLength(0);
  });
});
