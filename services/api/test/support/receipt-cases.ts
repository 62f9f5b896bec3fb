import type { AccessCase } from './access-cases.ts';
import type { ApiBed } from './api.ts';
import { processedPaste, type Ownership } from './pastes.ts';
import type { TestUser } from './users.ts';

/** Not found for everybody except the owner, or who has the delete token. */
export const receipt = (): AccessCase[] => {
  const stored =
    (ownershipOf: (owner: TestUser) => Ownership, headers: Record<string, string> = {}) =>
    async (bed: ApiBed, owner: TestUser) => ({
      path: `/v1/pastes/${await processedPaste(bed, 'content', { burn: true, ...ownershipOf(owner) })}/receipt`,
      init: { headers },
    });
  const withToken = { 'delete-token': 'the token' };
  const ofOwner = { none: 404, other: 404, owner: 200 };
  return [
    { about: 'an anonymous paste', prepare: stored(() => ({})), none: 404, other: 404, owner: 404 },
    {
      about: 'an anonymous paste, with its delete token',
      prepare: stored(() => ({}), withToken),
      none: 200,
      other: 200,
      owner: 200,
    },
    { about: 'an unlisted paste', prepare: stored(({ id }) => ({ userId: id })), ...ofOwner },
    {
      about: 'a private paste',
      prepare: stored(({ id }) => ({ userId: id, visibility: 'private' })),
      ...ofOwner,
    },
  ];
};
