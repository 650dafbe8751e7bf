/** The types of single pulls (docs/pulls.md): one report product, or FAILSAFE. As journey/shapes.ts. */
import type { z } from 'zod';
import type { Applicant, FailsafeApplicant } from '../../model/applicant.ts';
import type * as results from './result-schemas.ts';
import type * as inputs from './schemas.ts';

type FailsafeApplicants = z.ZodType<FailsafeApplicant[]>;

/** Input of the workflow `creditReport`. */
export type CreditReportInput = z.infer<ReturnType<typeof inputs.creditReportSchema<z.ZodType<Applicant[]>>>>;
/** Input of the workflow `failsafeCheck`. End user and purpose are for the ledger: FAILSAFE's request has neither. */
export type FailsafeCheckInput = z.infer<ReturnType<typeof inputs.failsafeCheckSchema<FailsafeApplicants>>>;
export type PullInput = CreditReportInput | FailsafeCheckInput;
export type PullProduct = PullInput['productCode'];
export type ResolvePullMessage = z.infer<ReturnType<typeof inputs.resolvePullSchema<FailsafeApplicants>>>;
export type WithdrawPullMessage = z.infer<ReturnType<typeof inputs.withdrawPullSchema>>;

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
