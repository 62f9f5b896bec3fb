/** The setting with which a service works on the Postgres of a test, which does without fsync for speed. */
export const UNSAFE_POSTGRES = { ALLOW_POSTGRES_TO_LOSE_DATA: 'fsync,full_page_writes' } as const;
