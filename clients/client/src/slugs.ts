import type { Paste, SlugMove, SlugVersion } from './api-types.ts';
import type { CallOptions } from './waiting.ts';
import type { Transport } from './transport.ts';

/** Chosen names of pastes, without `~`. */
export class Slugs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Moves a slug to a stored paste that was made from the one that it names. It can be repeated.
   * @throws PasteflowApiError slug_moved when the slug no longer names the paste `from`
   */
  async move(slug: string, body: SlugMove, { signal }: CallOptions = {}): Promise<Paste> {
    const { data } = await this.#transport.call(
      (api, init) => api.PUT('/v1/slugs/{slug}', { params: { path: { slug } }, body, ...init }),
      { signal },
    );
    return data;
  }

  /** The newest versions of a slug, newest first. @param name `~` and the slug, or the code of any version */
  async history(name: string, { signal }: CallOptions = {}): Promise<readonly SlugVersion[]> {
    const params = { path: { short_code: name } };
    const { data } = await this.#transport.call(
      (api, init) => api.GET('/v1/pastes/{short_code}/history', { params, ...init }),
      { signal },
    );
    return data.versions;
  }
}
