/** The texts about signing in, and about the sessions and tokens of a user: parts of `words`. */
export const signInWords = {
  title: 'Sign in',
  link: 'Sign in',
  signedInAs: 'Signed in as',
  signOut: 'Sign out',
  intro: 'You then see your own pastes and jobs, and the pastes that you create here are yours.',
  token: 'API token',
  tokenHint:
    'You get a token from the operator of this service, or make one at “My tokens”. You stay signed in for up to 12 hours, until you sign out or close the browser.',
  submit: 'Sign in',
  without: 'Continue without signing in',
  byProvider: (host: string) => `Sign in with ${host}`,
  orToken: 'Or sign in with a token.',
  done: 'You are signed in',
  goOn: 'Continue',
} as const;

export const myAccountWords = {
  title: 'My account',
  exportTitle: 'Take your pastes with you',
  exportHint: 'A job makes an archive of all your pastes. Download it before you erase them.',
  eraseTitle: 'Erase everything',
  eraseHint:
    'This deletes your pastes, jobs, archives, tokens and sessions, and your name, for ever. Nobody can bring them back.',
  notFull:
    'You have signed in with a token that you made yourself. To erase everything, sign in with a token from the operator, or at the identity provider.',
  nameField: 'Your name',
  nameHint: 'To confirm, type it exactly:',
  nameError: 'This is not your name. Nothing was deleted.',
  erase: 'Erase everything',
  erased: 'You are erased',
  erasedHint: 'Your tokens and sessions have ended. Your pastes and jobs are deleted within minutes.',
  goOn: 'Continue without signing in',
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

export const myTokensWords = {
  title: 'My tokens',
  intro:
    'With a token, programs act as you. When a token ends, the tokens that were made with it and the sessions that it began end, too.',
  none: 'You have no tokens.',
  make: 'Make a token',
  name: 'Name',
  nameHint: 'For example the machine on which you use it.',
  scope: 'It may',
  scopes: { full: 'read, write and make tokens', write: 'read and write', read: 'only read' },
  expiry: 'It expires after',
  expiries: [
    [604_800, '1 week'],
    [2_592_000, '30 days'],
    [7_776_000, '90 days'],
    [31_536_000, '1 year'],
  ],
  days: (count: number) => `${count} ${count === 1 ? 'day' : 'days'}`,
  submit: 'Make the token',
  made: (name: string) => `The token ${name} is made`,
  secret: 'Token',
  secretHint: 'Copy it now: it is not shown again. Anybody who has it can act as you.',
  cannotMake: 'The operator of this service makes all tokens.',
  notFull:
    'You have signed in with a token that you made yourself. To make or revoke tokens, sign in with a token from the operator, or at the identity provider.',
  created: 'Made',
  lastUsed: 'last used',
  neverUsed: 'never used',
  expires: 'expires',
  neverExpires: 'never expires',
  revoke: 'Revoke',
  revokeOne: (name: string) => `Revoke the token ${name}`,
} as const;
