import type { OwnerFunction } from './objects.ts';

/**
 * Begins the erasure of a user: the name and all tokens and sessions end in one transaction, before the sweep
 * deletes anything. No service may change the name of a user, so this is a function of the owner.
 *
 * FOR UPDATE waits for the creations of the user that have locked the row (`user_stands`). Those that come
 * later find `erased_at`: each creation is in time to be erased, or is refused. Of two erasures the second
 * finds no row. The tokens are locked in the order of their ids, as by `revokeEach`.
 *
 * @returns false: there is no such user, or the erasure has begun before
 */
export const eraseUserFunction: OwnerFunction = {
  name: 'erase_user',
  parameters: 'of_user uuid',
  returns: 'boolean',
  body: `
    BEGIN
      PERFORM FROM users WHERE id = of_user AND erased_at IS NULL FOR UPDATE;
      IF NOT FOUND THEN RETURN false; END IF;
      UPDATE users SET name = 'erased ' || id, erased_at = now() WHERE id = of_user;
      PERFORM FROM api_tokens WHERE user_id = of_user AND revoked_at IS NULL ORDER BY id FOR NO KEY UPDATE;
      UPDATE api_tokens SET revoked_at = now() WHERE user_id = of_user AND revoked_at IS NULL;
      INSERT INTO erasures (user_id, pastes, jobs)
        SELECT of_user, (SELECT count(*) FROM pastes WHERE user_id = of_user AND deletion_initiated_at IS NULL),
          (SELECT count(*) FROM jobs WHERE user_id = of_user);
      RETURN true;
    END`,
};

/**
 * Whether a user is not erased; it keeps an erasure waiting until the commit. Every statement that creates
 * something for a known user asks it: what is created is in time to be erased, or refused. A function of the
 * owner, because the worker has no right to users. A user who does not exist breaks the foreign key.
 */
export const userStandsFunction: OwnerFunction = {
  name: 'user_stands',
  parameters: 'of_user uuid',
  returns: 'boolean',
  body: `
    BEGIN
      PERFORM FROM users WHERE id = of_user AND erased_at IS NULL FOR KEY SHARE;
      RETURN FOUND OR NOT EXISTS (SELECT FROM users WHERE id = of_user);
    END`,
};
