import { showRelativeTimes } from './browser-facts.ts';
import { startCopyButtons } from './copy.ts';

showRelativeTimes();
startCopyButtons();
