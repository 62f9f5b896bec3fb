/** Tab indents. After Esc, Tab leaves the field, as everywhere else (WCAG 2.2, 2.1.2). Ctrl+Enter sends the form. */
export function listenToKeys(text: HTMLTextAreaElement): void {
  let tabLeaves = false;
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      text.form?.requestSubmit();
    } else if (event.key === 'Escape') {
      tabLeaves = true;
    } else if (event.key === 'Tab' && !tabLeaves && text.value !== '') {
      event.preventDefault();
      indent(text, event.shiftKey ? 'out' : 'in');
    } else if (event.key !== 'Shift') {
      tabLeaves = false;
    }
  });
}

/** The time of `insertText` grows with the square of the lines: 2,000 take the browser half a minute. */
const MAX_UNDONE_LINES = 300;

/**
 * Indents the selected lines by a tab, or takes one tab or up to four spaces away. Without a selection, a tab
 * goes where the cursor is. The browser can undo both, except for many lines, which the other direction takes
 * back.
 */
function indent(text: HTMLTextAreaElement, direction: 'in' | 'out'): void {
  const { value, selectionStart: start, selectionEnd: end } = text;
  if (direction === 'in' && start === end) {
    insert('\t');
    return;
  }
  const from = start === 0 ? 0 : value.lastIndexOf('\n', start - 1) + 1;
  // The line on which a selection ends is a part of it only when one of its characters is.
  const lastSelected = end > start && value[end - 1] === '\n' ? end - 1 : end;
  const newline = value.indexOf('\n', lastSelected);
  const to = newline === -1 ? value.length : newline;
  const lines = value.slice(from, to).split('\n');
  const changed = lines.map((line) => (direction === 'in' ? indented(line) : line.replace(INDENT, '')));
  const replacement = changed.join('\n');
  if (replacement === value.slice(from, to)) return;
  if (lines.length > MAX_UNDONE_LINES) {
    text.setRangeText(replacement, from, to);
    text.dispatchEvent(new Event('input', { bubbles: true }));
  } else {
    text.setSelectionRange(from, to);
    insert(replacement);
  }
  if (start === end) {
    const cursor = Math.max(from, start - (to - from - replacement.length));
    text.setSelectionRange(cursor, cursor);
  } else text.setSelectionRange(from, from + replacement.length);
}

const INDENT = /^(?:\t| {1,4})/;

const indented = (line: string): string => (line === '' ? line : `\t${line}`);

/**
 * Replaces the selection. No other way goes through the browser's history, and all browsers have this one.
 */
function insert(replacement: string): void {
  // oxlint-disable-next-line typescript/no-deprecated
  document.execCommand(replacement === '' ? 'delete' : 'insertText', false, replacement);
}
