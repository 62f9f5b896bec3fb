/** The api as plain HTTP, for tests of raw answers. No request is retried, and no answer is an error. */
export class Http {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetch(new URL(path, this.url), { redirect: 'manual', ...init });
  }

  /** POST of the raw bytes. */
  async post(
    content: Uint8Array | string,
    {
      path = '/v1/pastes',
      headers = {},
    }: {
      readonly path?: string;
      readonly headers?: Record<string, string>;
    } = {},
  ): Promise<Response> {
    const body = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    return await this.request(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });
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

export interface ReadContent {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}
