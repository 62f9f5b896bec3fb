/** Nobody is signed in. The message is one or two sentences for the person who signs in. */
export class SignInRefused extends Error {
  constructor(detail: string, cause?: unknown) {
    super(`${detail} Sign in again.`, { cause });
    this.name = 'SignInRefused';
  }
}
