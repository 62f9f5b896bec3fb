import { describe, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { raceOneKey } from './support/keyed.ts';

const bed = useApi();

describe('200 concurrent requests with one key, through two copies of the api', () => {
  it('create one paste: each gets the same 201 or a 409, and a 201 when it is repeated after the 409', () =>
    raceOneKey(bed, 200));
});
