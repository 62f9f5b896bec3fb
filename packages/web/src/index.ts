export { loadAssets, type Asset, type Assets } from './assets/assets.ts';
export { PasteLines } from './content/paste-lines.ts';
export { pagePolicy } from './html/page-policy.ts';
export type { Site } from './html/layout.ts';
export { createdPage } from './pages/created.ts';
export { newPastePage } from './pages/new-paste.ts';
export { deletedPage, pastePage, pendingPastePage, type ShownPaste } from './pages/paste.ts';
export { problemPage } from './pages/problem.ts';
export { timelinePage } from './pages/timeline.ts';
