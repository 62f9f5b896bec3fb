import type { Cluster } from '../../src/index.ts';

export interface PasteOptions {
  readonly title?: string;
  readonly syntax?: string;
  readonly parent?: string;
}

/** Creates a paste and waits for its upload. @returns its short code */
export async function storePaste(
  cluster: Cluster,
  content: string | Buffer,
  options: PasteOptions = {},
): Promise<string> {
  const { short_code } = await cluster
    .client()
    .pastes.create(typeof content === 'string' ? Buffer.from(content) : content, options);
  await cluster.untilStatus(short_code, 'PROCESSED');
  return short_code;
}
