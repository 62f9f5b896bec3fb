import { newSecret } from './secret.ts';

/** The prefix distinguishes an API token from others, also for scanners of leaked secrets. */
export function newApiToken(): string {
  return `pf_${newSecret()}`;
}

/** Whether a text has the form of an API token. Other texts never reach the database. */
export function isApiToken(text: string): boolean {
  return /^pf_[\w-]{43}$/.test(text);
}
