import { showRelativeTimes } from './times.ts';

showRelativeTimes();
