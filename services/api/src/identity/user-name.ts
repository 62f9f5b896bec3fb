import { findUserName, type Database } from '@pasteflow/postgres';

/**
 * The name of a user for the header of a page. Users of the identity provider are named ISSUER#SUBJECT (OidcUsers);
 * they know themselves by the subject.
 */
export function createNameOfUser(db: Database): (userId: string) => Promise<string> {
  return async (userId) => {
    const name = (await findUserName(db, userId)) ?? '';
    const [, subject] = /^https?:\/\/[^#]+#(.+)$/.exec(name) ?? [];
    return subject ?? name;
  };
}
