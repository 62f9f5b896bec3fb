export { createSqsClient, type SqsClient, type SqsClientOptions } from './client.ts';
export {
  createQueue,
  deadLetterQueueName,
  queueCounts,
  queueDepth,
  type Queue,
  type QueueCounts,
} from './queue.ts';
export { decodeJob, decodeUpload, type Decode } from './wire.ts';
export { sendJobs, sendUploads, type OutgoingJob, type OutgoingUpload } from './send.ts';
export { sendFollowed, type Follow, type Followed } from './follow.ts';
export { MessageDispatcher, type MessageDispatcherOptions } from './message-dispatcher.ts';
export type { Delivery } from './delivery.ts';
export { changeVisibility, type VisibilityChange } from './visibility.ts';
export { MessageReturner } from './message-returner.ts';
export { ConsumerGroup, type ConsumerGroupOptions } from './consumer-group.ts';
export { acknowledge, receiveDeadLetters } from './dead-letters.ts';
export { moveDeadLetters, type MovedMessages, type MoveOptions } from './move-dead-letters.ts';
