/** A paste as the api describes it, as far as tests look at it. */
export interface Paste {
  readonly short_code: string;
  readonly url: string;
  readonly content_url: string;
  readonly status: string;
  readonly deletion_status: string;
  readonly content_hash: string;
  readonly size_bytes: number;
  readonly failure_reason: string | null;
  /** In the answer to its creation only. */
  readonly delete_token?: string;
}

/** The HTTP contract from a client's side. */
export class PastesClient {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** Any request; nothing is retried. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetch(new URL(path, this.url), { redirect: 'manual', ...init });
  }

  /** POST of the raw bytes, whatever comes of it. */
  async post(
    content: Uint8Array | string,
    { path = '/v1/pastes', headers = {} }: PostOptions = {},
  ): Promise<Response> {
    const body = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    return await this.request(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });
  }

  /** As `post`, and anything but 201 is an error. */
  async create(content: Uint8Array | string, options: PostOptions = {}): Promise<Paste> {
    const response = await this.post(content, options);
    if (response.status !== 201)
      throw new Error(`POST answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Paste;
  }

  async metadata(shortCode: string): Promise<Paste> {
    const response = await this.request(`/v1/pastes/${shortCode}`);
    if (response.status !== 200) throw new Error(`GET answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Paste;
  }

  /** GET of the content, by the short URL. */
  async read(shortCode: string, headers: Record<string, string> = {}): Promise<ReadContent> {
    const response = await this.request(`/${shortCode}`, { headers });
    return {
      status: response.status,
      headers: response.headers,
      body: Buffer.from(await response.arrayBuffer()),
    };
  }
}

export interface PostOptions {
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

export interface ReadContent {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}
