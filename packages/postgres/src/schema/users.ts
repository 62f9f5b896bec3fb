import type { Generated } from 'kysely';

export interface UsersTable {
  id: Generated<string>;
  name: string;
  created_at: Generated<Date>;
}
