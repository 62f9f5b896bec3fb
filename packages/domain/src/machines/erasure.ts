import { defineMachine, type StateOf } from '../machine.ts';

export const erasure = defineMachine({
  name: 'erasure',
  storedIn: {
    table: 'erasures',
    column: 'status',
    identityColumns: ['id', 'user_id'],
    reasonColumn: null,
  },
  initial: 'requested',
  states: {
    requested: { meaning: 'The name, the tokens and the sessions have ended.', to: ['at_work'] },
    at_work: { meaning: 'The sweep `erasures` deletes the rest.', to: ['done'] },
    done: { meaning: 'Ids are left.', to: [] },
  },
});

export type ErasureState = StateOf<typeof erasure>;
