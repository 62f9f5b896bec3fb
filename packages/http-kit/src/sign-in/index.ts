export { boundedFetch } from './bounded-fetch.ts';
export { issuerUrl, scopes } from './client-settings.ts';
export {
  CLOCK_TOLERANCE_SECONDS,
  IdentityProvider,
  isFromFuture,
  isSubject,
  type OidcClient,
  type SignedIn,
} from './identity-provider.ts';
export {
  PENDING_SECONDS,
  readPending,
  withoutPending,
  writePending,
  type PendingSignIn,
} from './pending-sign-in.ts';
export { SignInRefused } from './sign-in-refused.ts';
