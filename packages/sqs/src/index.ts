export { createSqsClient, DIRECT_REFUSED, type SqsClient } from './client.ts';
export {
  createQueue,
  deadLetterQueueName,
  queueCounts,
  queueDepth,
  sqsBatches,
  type Queue,
} from './queue.ts';
export { decodeJob, decodeUpload, type Decode } from './wire.ts';
export {
  sendEntries,
  sendJobs,
  sendUploads,
  sendUploadsWithoutContent,
  type OutgoingJob,
  type OutgoingUpload,
} from './send.ts';
export { MessageDispatcher, sendTraced } from './message-dispatcher.ts';
export {
  acknowledge,
  Acknowledger,
  changeVisibility,
  MessageReturner,
  type VisibilityChange,
} from './received-messages.ts';
export { ConsumerGroup, type Delivery } from './consumer-group.ts';
export { moveDeadLetters, receiveDeadLetters } from './dead-letters.ts';
