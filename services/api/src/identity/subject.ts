/** OpenID Connect Core, 2: `sub` has at most 255 characters. Control characters are refused; Postgres can't store NUL. */
const SUBJECT = /^\P{Cc}{1,255}$/u;

/** Whether the claim `sub` of a token can name a user. */
export function isSubject(sub: unknown): sub is string {
  return typeof sub === 'string' && sub.isWellFormed() && SUBJECT.test(sub);
}

/** The name of the user who is this subject of the identity provider. */
export function nameOfSubject(issuer: string, subject: string): string {
  return `${issuer}#${subject}`;
}
