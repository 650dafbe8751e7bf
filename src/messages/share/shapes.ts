/** The types of the answers of reports that are shared at any time (docs/shares.md), as journey/shapes.ts. */
import type { z } from 'zod';
import type * as results from './result-schemas.ts';

/** The source of the report: an inquiry in the ledger, or what the caller has given and the ledger does not have. */
export type ReportSource = z.infer<typeof results.reportSourceSchema>;
/** Answer of the query `status`: nothing personal. */
export type ShareReportStatus = z.infer<typeof results.shareReportStatusSchema>;
export type ShareReportState = ShareReportStatus['state'];
/** Result of the workflow `shareReport`. */
export type ShareReportResult = z.infer<typeof results.shareReportResultSchema>;
export type ShareReportOutcome = ShareReportResult['outcome'];
/** Answer of every update: the message was accepted. It does not say that the gateway has answered. */
export type ShareReportUpdateAnswer = z.infer<typeof results.shareReportUpdateAnswerSchema>;
/** Answer of the query `references`; `consumerId` is personal. */
export type ShareReportReferences = z.infer<typeof results.shareReportReferencesSchema>;
