import { describeExportOf } from './support/describe-export.ts';

describeExportOf(40); // 2,000 in jobs-export.volume.ts
