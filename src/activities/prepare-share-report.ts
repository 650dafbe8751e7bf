/** A share's input checked, its report found, and what the ledger has about sharing it. */
import { ownerIdOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import { secondaryUserOf } from '../model/secondary-user.ts';
import type { ReportSource } from '../model/share-shapes.ts';
import { parseShareReportInput } from '../validation/messages.ts';
import type { JourneyActivities, LookUpConsentsArgs, StandingConsents } from './contract.ts';
import { type ActivityDependencies, profileNamed } from './dependencies.ts';
import { entitlementProblems } from './entitlements.ts';
import { translating } from './failures.ts';
import { checkRequestCanBeBuilt } from './inquiry-request.ts';
import { fixRun, ownerProblems, profileNameOf, refuseInTheClear } from './prepared-run.ts';
import { findSharedReport, useProblem } from './shared-report.ts';
import { standingConsents } from './standing-consents.ts';

export function createPrepareShareReport(
  dependencies: ActivityDependencies,
): Pick<JourneyActivities, 'prepareShareReport' | 'lookUpConsents'> {
  const { ledger } = dependencies;

  async function lookUpConsents(args: LookUpConsentsArgs): Promise<StandingConsents> {
    const { share, report, reportReferenceNumber } = args;
    const stored = await ledger.consentsToShare({
      callerId: ownerIdOf('share', share.shareId),
      shareId: share.shareId,
      reportReferenceNumber,
      ...(report.kind === 'ledger' ? { reportOwnerId: report.ownerId } : {}),
    });
    return { ...standingConsents(stored, args), ...((await isGone(report)) ? { reportGone: true } : {}) };
  }

  async function isGone(report: ReportSource): Promise<boolean> {
    if (report.kind === 'given') return false;
    const inquiry = await ledger.inquiry(report.customerTraceNumber);
    return !inquiry || (await useProblem(ledger, inquiry)) !== null;
  }

  return {
    /**
     * Checks a share's whole input, finds its report, and fixes what the run will be held to, before anything can be
     * posted. The ledger knows of the share from then on.
     *
     * @throws `InvalidInput` (final) with every problem; `LedgerUnavailable` (repeated)
     */
    prepareShareReport: ({ input, firstRunId }) =>
      translating(async () => {
        const profile = profileNamed(dependencies, profileNameOf(input));
        const share = parseShareReportInput(input);
        await refuseInTheClear(dependencies, profile);
        const ownerId = ownerIdOf('share', share.shareId);
        const problems = [
          ...(await ownerProblems(dependencies, { ownerId, path: '/shareId' })),
          ...entitlementProblems(profile, {
            productCode: 'SECONDUSE',
            endUserCode: share.endUserCode,
            permissiblePurposeCode: share.permissiblePurposeCode,
            endUserPath: '/endUserCode',
            purposePath: '/permissiblePurposeCode',
          }),
        ];
        if (problems.length > 0) throw new InvalidInputError(problems);
        const found = await findSharedReport(ledger, profile, share);
        const { source: report, reference, endUserCode: reportEndUserCode } = found;
        const { shareId, permissiblePurposeCode } = share;
        const sharedWith = secondaryUserOf(share);
        checkRequestCanBeBuilt(
          profile,
          { productCode: 'SECONDUSE', ...sharedWith, permissiblePurposeCode },
          { reference },
        );
        const { reportReferenceNumber } = reference;
        const row = { callerId: ownerId, shareId, reportReferenceNumber, reportEndUserCode };
        if (!(await ledger.recordShare(ledger.identity.ledgerId, row))) {
          throw new InvalidInputError([
            { path: '/report', rule: 'must be that of the share which has this id already: choose another id' },
          ]);
        }
        const { consentTrust } = profile;
        const consents = await lookUpConsents({
          share: { shareId, ...sharedWith },
          report,
          reportReferenceNumber,
          consentTrust,
        });
        const applicantIds = reference.applicants.map(({ applicantId }) => applicantId);
        await ledger.kept.hear(ledger.identity.ledgerId, { ownerId, firstRunId, shareIds: [shareId], applicantIds });
        return { ...(await fixRun(dependencies, profile)), report, reference, consents };
      }),

    /** @throws `LedgerUnavailable` (repeated) */
    lookUpConsents: (args) => translating(() => lookUpConsents(args)),
  };
}
