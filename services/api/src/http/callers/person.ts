import type { UserNames } from '@pasteflow/postgres';
import { z } from 'zod';

export const personSchema = z
  .object({
    name: z
      .string()
      .meta({ description: 'Anybody may bear it. Show it to people, and identify nobody by it.' }),
    issuer: z
      .string()
      .nullable()
      .meta({ description: 'The identity provider that says so. null: the operator of this service does.' }),
  })
  .meta({
    id: 'Person',
    description: 'What a user is called.',
    examples: [{ name: 'Anna Adler', issuer: 'https://login.example.org' }],
  });

/** What people are told of a user. */
export type Person = z.output<typeof personSchema>;

/** A user whom the identity provider does not name is called by the subject. */
export function personOf({ userName, shownName }: UserNames): Person {
  const { issuer, subject } = partsOf(userName);
  return { name: issuer === null ? subject : (shownName ?? subject), issuer };
}

/** For the pages of the user. */
export function viewerOf(names: UserNames): { readonly name: string; readonly person: Person } {
  return { name: subjectOf(names.userName), person: personOf(names) };
}

/** Users of the identity provider are named ISSUER#SUBJECT (OidcUsers); they know themselves by the subject. */
export function subjectOf(userName: string): string {
  return partsOf(userName).subject;
}

function partsOf(userName: string): { readonly issuer: string | null; readonly subject: string } {
  const [, issuer, subject] = /^(https?:\/\/[^#]+)#(.+)$/s.exec(userName) ?? [];
  return issuer === undefined || subject === undefined
    ? { issuer: null, subject: userName }
    : { issuer, subject };
}
