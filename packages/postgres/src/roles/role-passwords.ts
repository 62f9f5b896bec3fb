import type { RolePasswords } from './create-roles.ts';

/** A role without a password here keeps the password that it has. */
export function readRolePasswords(env: Readonly<Record<string, string | undefined>>): RolePasswords {
  return {
    ...(env.PASTEFLOW_API_PASSWORD && { pasteflow_api: env.PASTEFLOW_API_PASSWORD }),
    ...(env.PASTEFLOW_WORKER_PASSWORD && { pasteflow_worker: env.PASTEFLOW_WORKER_PASSWORD }),
    ...(env.PASTEFLOW_JANITOR_PASSWORD && { pasteflow_janitor: env.PASTEFLOW_JANITOR_PASSWORD }),
  };
}
