import type { StreamParser } from '@codemirror/streamparser';

interface MarkdownState {
  /** The marks that end the fenced block; null: outside of one. */
  fence: string | null;
}

/**
 * CommonMark, as far as a reader of the source wants colours: headings, lists, quotes, code, links and
 * emphasis.
 */
export const markdown: StreamParser<unknown> = {
  name: 'markdown',
  startState: (): MarkdownState => ({ fence: null }),
  token: (stream, state) => {
    const markdownState = state as MarkdownState;
    if (stream.sol()) {
      const style = readLineStart(stream, markdownState);
      if (style !== undefined) return style;
    }
    return readInline(stream);
  },
};

type Stream = Parameters<StreamParser<unknown>['token']>[0];

/** A style when the whole line or its mark is read; undefined when the line has ordinary text. */
function readLineStart(stream: Stream, state: MarkdownState): string | undefined {
  const fence = stream.match(/^ {0,3}(`{3,}|~{3,})/, false) as RegExpMatchArray | null;
  if (state.fence !== null) {
    const marks = fence?.[1] ?? '';
    if (marks.startsWith(state.fence) && stream.string.trim() === marks) state.fence = null;
    stream.skipToEnd();
    return 'monospace';
  }
  if (fence !== null) {
    state.fence = fence[1] ?? '```';
    stream.skipToEnd();
    return 'monospace';
  }
  if (stream.match(/^ {0,3}#{1,6}(?=\s|$)/)) {
    stream.skipToEnd();
    return 'heading';
  }
  if (stream.match(/^ {0,3}>/)) return 'keyword';
  if (stream.match(/^ {0,3}(?:-[ \t]*){3,}$/) || stream.match(/^ {0,3}(?:\*[ \t]*){3,}$/)) return 'keyword';
  if (stream.match(/^\s*(?:[-+*]|\d{1,9}[.)])(?=\s)/)) return 'keyword';
  return undefined;
}

function readInline(stream: Stream): string | null {
  if (stream.match(/^\\[!-/:-@[-`{-~]/)) return null;
  const ticks = stream.match(/^`+/) as RegExpMatchArray | null;
  if (ticks !== null) {
    if (!stream.skipTo(ticks[0])) return null;
    stream.match(ticks[0]);
    return 'monospace';
  }
  if (stream.match(/^!?\[[^\]]{0,300}\]\([^)\s]{0,2000}[^)]{0,300}\)/)) return 'link';
  if (stream.match(/^<https?:[^>\s]{1,2000}>/) || stream.match(/^https?:\/\/[^\s)>]{1,2000}/)) return 'link';
  if (stream.match(/^(\*\*|__)[^\s*_][^*_]{0,500}\1/)) return 'def';
  if (stream.match(/^([*_])[^\s*_][^*_]{0,500}\1/)) return 'propertyName';
  stream.next();
  stream.eatWhile(/[^\\`![<h*_]/);
  return null;
}
