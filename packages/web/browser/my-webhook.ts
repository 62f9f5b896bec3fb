import { showRelativeTimes } from './browser-facts.ts';
import { startCopyButtons } from './copy.ts';
import { followRows } from './follow-rows.ts';

showRelativeTimes();
startCopyButtons();
followRows();
