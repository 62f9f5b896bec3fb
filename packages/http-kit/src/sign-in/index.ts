export {
  CLOCK_TOLERANCE_SECONDS,
  IdentityProvider,
  isFromFuture,
  isSubject,
  issuerUrl,
  scopes,
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
export { SignInRefused, boundedFetch } from './provider-error.ts';
