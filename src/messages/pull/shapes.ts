/** The types of the answers of single pulls (docs/pulls.md), as journey/shapes.ts. */
import type { z } from 'zod';
import type * as results from './result-schemas.ts';

/** Answer of a pull's query `status`: nothing personal. */
export type PullStatus = z.infer<typeof results.pullStatusSchema>;
export type PullState = PullStatus['state'];
/** The outcome of one consumer (interface 2.8); `consumerId` is personal. */
export type ConsumerResult = z.infer<typeof results.consumerResultSchema>;
export type UnattributedConsumer = z.infer<typeof results.unattributedConsumerSchema>;
/** Result of the workflows `creditReport` and `failsafeCheck`. */
export type PullResult = z.infer<typeof results.pullResultSchema>;
export type PullOutcome = PullResult['outcome'];
/** Answer of a pull's query `references`; `consumerId` is personal. */
export type PullReferences = z.infer<typeof results.pullReferencesSchema>;
/** Answer of every update of a pull: the message was accepted. It does not say that the gateway has answered. */
export type PullUpdateAnswer = z.infer<typeof results.pullUpdateAnswerSchema>;
