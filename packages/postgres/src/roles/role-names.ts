/** The roles as which the services connect, with the rights of rights.ts. */
export const serviceRoles = ['pasteflow_api', 'pasteflow_worker', 'pasteflow_janitor'] as const;

export type ServiceRole = (typeof serviceRoles)[number];

/**
 * Owns all tables and functions. Nothing connects as this role, except a migration without an administrator.
 */
export const OWNER_ROLE = 'pasteflow_owner';

export const allRoles = [OWNER_ROLE, ...serviceRoles] as const;
