export { assetsOfHouse, loadAssets, type Asset, type Assets } from './assets.ts';
export { BEGINNING_BYTES, kindOf, type ContentKind, type ImageType } from './content/content-kind.ts';
export { FIRST_WORDS_BYTES, firstWordsOf } from './content/first-words.ts';
export { encodingOf, textOf } from './content/text-encoding.ts';
export { markupBytesOf, PasteLines } from './content/paste-lines.ts';
export { remainingUntil } from './html/formats.ts';
export { contactLink, pagePolicyOf, policyWithImage, type Site } from './html/layout.ts';
export { arrivalPage } from './pages/arrival.ts';
export { docsPage } from './pages/docs.ts';
export { burnPage, revealedFilesPage, revealedImagePage, revealedPage } from './pages/burn.ts';
export { filePage } from './pages/file.ts';
export { pasteFilesPage, type FilesPage } from './pages/files.ts';
export { changePage, SHOWN_BEFORE } from './pages/change.ts';
export { createdPage } from './pages/created.ts';
export { receiptPage } from './pages/receipt.ts';
export { encryptedPage } from './pages/encrypted.ts';
export {
  diffPage,
  diffRefusedPage,
  historyPage,
  type ShownChanges,
  type ShownHunk,
} from './pages/versions.ts';
export { myJobPage } from './pages/my-job.ts';
export { myJobsPage } from './pages/my-jobs.ts';
export { confirmDeletionPage, myPastesPage } from './pages/my-pastes.ts';
export { invitationAcceptedPage, invitationPage } from './pages/invitation.ts';
export { accountErasedPage, myAccountPage, mySessionsPage } from './pages/my-account.ts';
export { myRequestPage } from './pages/my-request.ts';
export { myRequestsPage } from './pages/my-requests.ts';
export { myTokensPage } from './pages/my-tokens.ts';
export { myWebhookPage } from './pages/my-webhook.ts';
export { myWebhooksPage } from './pages/my-webhooks.ts';
export {
  closedPage,
  MAX_FILLED_BYTES,
  newPastePage,
  type SharedText,
  type ShownOrigin,
} from './pages/new-paste.ts';
export { deletedPage, pastePage, pendingPastePage } from './pages/paste.ts';
export type { ShownPaste } from './pages/shown-paste.ts';
export { problemPage, rightAddressPage, slugMessage } from './pages/problem.ts';
export { requestPage } from './pages/request.ts';
export { reportPage, reportSentPage } from './pages/report.ts';
export { signedInPage, signInPage } from './pages/sign-in.ts';
export { languageNames, wordsIn } from './words/words.ts';
export { styleguidePage } from './pages/styleguide.ts';
export { timelinePage } from './pages/timeline.ts';
export { operationsPolicy, refusalPage, type OperationsSite, type RefusalLink } from './operations/layout.ts';
export { erasuresPage, jobsPage, pastesPage, usersPage } from './operations/lists.ts';
export { workerPage, workersPage } from './operations/workers.ts';
export { confirmationPage, outcomePage } from './operations/action.ts';
export { failedPastesPage } from './operations/failed.ts';
export { overviewPage, plain, type ShownOverview } from './operations/overview.ts';
export { reportedPage, reportsPage } from './operations/reports.ts';
export { subjectPage, userPage, type ShownSubject } from './operations/subject.ts';
