/** Alone in its file, so that the other two dialects of that module are left out. */
export { css, sCSS } from '@codemirror/legacy-modes/mode/css';
