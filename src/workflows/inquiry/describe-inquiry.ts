/** What the ledger keeps about an inquiry, with its trace number. */
import { workflowInfo } from '@temporalio/workflow';
import type { PreparedRun } from '../../activities/contract.ts';
import type { InquiryDescription } from '../../model/inquiry.ts';
import { traceNumber } from '../../model/trace-number.ts';
import type { InquirySpec } from './inquiry-spec.ts';

/** @param amends the trace number of the inquiry that it corrects */
export function describeInquiry(
  run: PreparedRun,
  spec: InquirySpec,
  ordinal: number,
  amends?: string,
): InquiryDescription {
  const { ownerId, productCode, shareId, endUserCode, endUser, permissiblePurposeCode } = spec;
  const { workflowType } = workflowInfo();
  return {
    customerTraceNumber: traceNumber({ ...run, workflowType, ownerId, productCode, shareId, ordinal }),
    environment: run.environment,
    profile: run.profile,
    customerId: run.customerId,
    workflowType,
    ownerId,
    productCode,
    ordinal,
    ...(shareId === undefined ? {} : { shareId }),
    ...(endUserCode === undefined ? {} : { endUserCode }),
    ...(endUser === undefined ? {} : { endUser }),
    ...(permissiblePurposeCode === undefined ? {} : { permissiblePurposeCode }),
    ...(amends === undefined ? {} : { amends }),
  };
}
