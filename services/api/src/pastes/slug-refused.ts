import { SLUG_MARK } from '@pasteflow/domain';
import type { SlugRefusal } from '@pasteflow/postgres';
import { RequestError } from '../http/errors/request-error.ts';

/** The error for a paste that did not get its slug. */
export function slugRefused(refusal: SlugRefusal, slug: string, maxSlugs: number | null): RequestError {
  switch (refusal) {
    case 'slug_taken': {
      const message = 'is taken by another paste; choose another one';
      return new RequestError(
        refusal,
        `Another paste has the address ${SLUG_MARK}${slug}. Choose another slug.`,
        {
          errors: [{ path: 'slug', message }],
        },
      );
    }
    case 'slug_limit_reached': {
      const message = `must be empty: you have ${maxSlugs ?? 'too many'} pastes with a slug, which is the limit`;
      return new RequestError(
        refusal,
        `You have ${maxSlugs ?? 'too many'} pastes with a slug, which is the limit. Create this paste without a slug. A deleted paste counts until its slug is free.`,
        { errors: [{ path: 'slug', message }] },
      );
    }
    default:
      return refusal satisfies never;
  }
}
