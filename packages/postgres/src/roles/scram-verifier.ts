import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** What Postgres itself uses. */
const ITERATIONS = 4096;

/**
 * The SCRAM-SHA-256 verifier of a password (RFC 5803), as `pg_authid` stores it. ALTER ROLE with a verifier keeps the
 * password out of the log of Postgres, and of every statement that somebody can see.
 * @throws Error when the password has other characters than printable ASCII: SASLprep would change them
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  if (!/^[\x20-\x7e]+$/.test(password))
    throw new Error('The password of a role must consist of printable ASCII characters. Choose another one.');
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest();
  const [saltText, storedText, serverText] = [salt, storedKey, hmac('Server Key')].map((part) =>
    part.toString('base64'),
  );
  return `SCRAM-SHA-256$${ITERATIONS}:${saltText}$${storedText}:${serverText}`;
}
