/** A page of a list, newest first. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Of the page after this one; null: there is none. */
  readonly nextCursor: string | null;
}

/** As a query has it; empty: the start. */
export interface Place {
  readonly cursor?: string;
}

/** A list that is read as it is iterated: `for await (const each of listing)`, page by page, or a single page. */
export class Listing<T> implements AsyncIterable<T> {
  readonly #read: (place: Place) => Promise<Page<T>>;

  /** @param read the page at that place */
  constructor(read: (place: Place) => Promise<Page<T>>) {
    this.#read = read;
  }

  /** @param cursor `nextCursor` of the page before; without it the first one */
  async page(cursor?: string): Promise<Page<T>> {
    return await this.#read(cursor === undefined ? {} : { cursor });
  }

  async *pages(cursor?: string): AsyncGenerator<Page<T>, void, undefined> {
    let page = await this.page(cursor);
    yield page;
    while (page.nextCursor !== null) {
      page = await this.page(page.nextCursor);
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }
}
