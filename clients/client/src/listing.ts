/** A page of a list, newest first. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; null: this is the last one. */
  readonly nextCursor: string | null;
}

/** The start of a page as a query parameter; empty: the first page. */
export interface Place {
  readonly cursor?: string;
}

/** A list that is read page by page (`for await (const each of listing)`), or one page at a time. */
export class Listing<T> implements AsyncIterable<T> {
  readonly #read: (place: Place) => Promise<Page<T>>;

  /** @param read reads the page that starts at that place */
  constructor(read: (place: Place) => Promise<Page<T>>) {
    this.#read = read;
  }

  /** @param cursor `nextCursor` of the previous page; default: the first page */
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
