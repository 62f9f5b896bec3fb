import { renderMarkdown } from './render.ts';

/** What the worker answers to a text: its markup; null when there is none. */
export type Rendered = string | null;

addEventListener('message', ({ data }: MessageEvent<string>) => postMessage(render(data)));

/**
 * marked throws for nothing that is Markdown. For a text that is written against it, it can use up the stack.
 */
function render(text: string): Rendered {
  try {
    return renderMarkdown(text);
  } catch {
    return null;
  }
}
