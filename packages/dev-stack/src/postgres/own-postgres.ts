/** The last clause of every message about a machine on which the embedded Postgres cannot run. */
export const USE_YOUR_OWN = 'install Postgres 15 or later and set DATABASE_URL to use it instead';
