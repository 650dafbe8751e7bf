/** Checks a share's input, finds its report, and reads what the ledger has about sharing it. */
import { defined } from '../base/defined.ts';
import { standingConsents, tellableConsents } from '../ledger/share-standing.ts';
import { parseShareReportInput } from '../messages/parse-messages.ts';
import { ownerIdOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import { secondaryUserOf } from '../model/secondary-user.ts';
import type { FoundConsents, JourneyActivities, LookUpConsentsArgs } from './contract.ts';
import { type ActivityDependencies, profileNamed } from './dependencies.ts';
import { entitlementProblems } from './entitlements.ts';
import { translating } from './failures.ts';
import { checkRequestCanBeBuilt, factsAtStart, fixRun, ownerProblems, profileNameOf } from './prepared-run.ts';
import { findSharedReport } from './shared-report.ts';

export function createPrepareShareReport(
  dependencies: ActivityDependencies,
): Pick<JourneyActivities, 'prepareShareReport' | 'lookUpConsents'> {
  const { ledger } = dependencies;

  async function findConsents(args: Omit<LookUpConsentsArgs, 'applicantIds'>): Promise<FoundConsents> {
    const { share, report, reportReferenceNumber, consentTrust } = args;
    const ownerId = ownerIdOf('share', share.shareId);
    const facts = await ledger.shareFacts({ ownerId, shareId: share.shareId, reportReferenceNumber });
    // The ledger had the report when the share was started, and no longer has it.
    const isLost = report.kind === 'ledger' && !facts.owners.includes(report.ownerId);
    return {
      ...standingConsents(facts.stored, { ...share, owners: facts.owners, consentTrust: consentTrust ?? 'namespace' }),
      ...(facts.reportIsGone || isLost ? { reportGone: true } : {}),
      ...(facts.withdrawn ? { withdrawn: defined({ replacedBy: facts.withdrawn.replacedBy }) } : {}),
    };
  }

  const tell = (found: FoundConsents, shareId: string, applicantIds: readonly string[]): FoundConsents => ({
    ...found,
    ...tellableConsents(found, { shareId, applicantIds }),
  });

  return {
    /**
     * Checks a share's whole input, finds its report, and fixes the configuration that the run keeps to, before
     * anything can be posted. The ledger knows of the share from then on.
     *
     * @throws `InvalidInput` (final) with every problem; `LedgerUnavailable` (repeated)
     */
    prepareShareReport: ({ input, firstRunId }) =>
      translating(async () => {
        const profile = profileNamed(dependencies, profileNameOf(input));
        const share = parseShareReportInput(input);
        const ownerId = ownerIdOf('share', share.shareId);
        const facts = await factsAtStart(dependencies, ownerId);
        const problems = [
          ...ownerProblems({ ownerId, path: '/shareId' }, facts),
          ...entitlementProblems(profile, {
            productCode: 'SECONDUSE',
            endUserCode: share.endUserCode,
            permissiblePurposeCode: share.permissiblePurposeCode,
            endUserPath: '/endUserCode',
            purposePath: '/permissiblePurposeCode',
          }),
        ];
        if (problems.length > 0) throw new InvalidInputError(problems);
        const shared = await findSharedReport(ledger, profile, share);
        const { source: report, reference, endUserCode: reportEndUserCode } = shared;
        const { shareId, permissiblePurposeCode } = share;
        const sharedWith = secondaryUserOf(share);
        checkRequestCanBeBuilt(
          profile,
          { productCode: 'SECONDUSE', ...sharedWith, permissiblePurposeCode },
          { reference },
        );
        const { reportReferenceNumber } = reference;
        const row = { ownerId, shareId, reportReferenceNumber, reportEndUserCode };
        if (!(await ledger.recordShare(ledger.identity.ledgerId, row))) {
          throw new InvalidInputError([
            { path: '/report', rule: 'must be that of the share which has this id already: choose another id' },
          ]);
        }
        const { consentTrust } = profile;
        const found = await findConsents({
          share: { shareId, ...sharedWith },
          report,
          reportReferenceNumber,
          consentTrust,
        });
        const applicantIds = reference.applicants.map(({ applicantId }) => applicantId);
        const { ledgerId } = ledger.identity;
        await ledger.kept.hear(ledgerId, { ownerId, firstRunId, shareIds: [shareId], applicantIds });
        // Consents to the report's journey from after its end: they are for this share.
        const ofOthers = found.own.filter(({ journeyId }) => journeyId !== ownerId);
        if (ofOthers.length > 0) {
          const told = { ownerId, firstRunId, unknownShares: [], matchedShares: [], faultyGrants: [] };
          await ledger.kept.noteTold(ledgerId, { ...told, consents: ofOthers });
        }
        const consents = tell(found, shareId, applicantIds);
        return { ...(await fixRun(dependencies, profile, facts)), report, reference, consents };
      }),

    /** @throws `LedgerUnavailable` (repeated) */
    lookUpConsents: ({ applicantIds, ...args }) =>
      translating(async () => tell(await findConsents(args), args.share.shareId, applicantIds)),
  };
}
