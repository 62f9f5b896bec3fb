import type { Words } from '../words/translation.ts';

/** What a user is called. */
export interface Person {
  readonly name: string;
  /** The URL of the identity provider that says so; null: the operator has named the user. */
  readonly issuer: string | null;
}

/** Says who calls the user so, because anybody may bear a name. The name keeps its own direction of writing. */
export function personText({ name, issuer }: Person, { person }: Words): string {
  const isolated = `\u2068${name}\u2069`;
  return issuer === null ? isolated : person.as(isolated, `\u2068${URL.parse(issuer)?.host ?? issuer}\u2069`);
}
