import { describeExportOf } from './support/describe-export.ts';

describeExportOf(2000); // 200 MB in all
