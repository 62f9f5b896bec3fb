/** The texts about signing in, and about the sessions of a user: parts of `words`. */
export const signInWords = {
  title: 'Sign in',
  link: 'Sign in',
  signedInAs: 'Signed in as',
  signOut: 'Sign out',
  intro: 'With a token you see your own pastes and jobs, and the pastes that you create here are yours.',
  token: 'API token',
  tokenHint:
    'The operator of this service makes tokens. You stay signed in for up to 12 hours, until you sign out or close the browser.',
  submit: 'Sign in',
  without: 'Continue without signing in',
  byProvider: (host: string) => `Sign in with ${host}`,
  orToken: 'Or sign in with a token.',
  done: 'You are signed in',
  goOn: 'Continue',
} as const;

export const mySessionsWords = {
  title: 'My sessions',
  intro:
    'These browsers are signed in as you. A session lasts for up to 12 hours, and ends with the token that began it.',
  byToken: 'With the token',
  byProvider: (host: string | null) => (host === null ? 'By the identity provider' : `By ${host}`),
  begun: 'Began',
  lastUsed: 'last used',
  ends: 'ends',
  endButton: 'End',
  endOne: (begun: string) => `End the session that began at ${begun.slice(0, 16).replace('T', ' ')}`,
  thisBrowser: 'This browser',
  endOthers: 'End all other sessions',
} as const;
