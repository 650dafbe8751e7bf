/** Rules about messages, consents and identity, each taken out by one edit. As `builds.ts`, which lists the fences. */
import type { BrokenBuild } from './builds.ts';

const DECISION_PROOFS = 'test/workflows/decision-proofs.test.ts';
const CONSENT_RECORDING = 'test/workflows/consent-recording.test.ts';

export const BROKEN_RULES: readonly BrokenBuild[] = [
  {
    name: 'a run says that nothing was sent, and has not asked the ledger',
    edits: [
      {
        file: 'src/workflows/inquiry/inquiry-protocol.ts',
        find: '    if (mayHaveMissedAnAttempt(failure)) {\n',
        replace: '    if (failure.attempt < 0 && mayHaveMissedAnAttempt(failure)) {\n',
      },
    ],
    tests: [
      { path: 'test/hazards/ledger-profile-changed-slow.test.ts', title: 'reads the ledger before it reports that' },
    ],
  },
  {
    name: 'a decision passes over an attempt that was not judged',
    edits: [
      {
        file: 'src/ledger/inquiries/rules.ts',
        find: '  return !known.abandoned && isAboutTheLatest(known, decision) ? judgeEffect(known, decision) : OVERTAKEN;\n',
        replace:
          '  return !known.abandoned && (decision.action === "amend" || isAboutTheLatest(known, decision)) ? judgeEffect(known, decision) : OVERTAKEN;\n',
      },
    ],
    tests: [{ path: 'test/ledger/decision.test.ts', title: 'its hold is InvalidInput and the outcome is unknown' }],
  },
  {
    name: 'a consent is acknowledged before the ledger has it',
    edits: [
      {
        file: 'src/workflows/run/message-answers.ts',
        find: 'condition(() => message.verdict !== undefined, ANSWER_WITHIN_MS, { summary }),',
        replace:
          'message.verdict !== undefined ? Promise.resolve(true) : condition(() => true, ANSWER_WITHIN_MS, { summary }).then(() => false),',
      },
      {
        file: 'src/workflows/run/message-answers.ts',
        find: "recorded: verdict === 'recorded' };",
        replace: "recorded: verdict !== 'inNoLedger' };",
      },
    ],
    tests: [{ path: CONSENT_RECORDING, title: 'is in the ledger when an update is answered' }],
  },
  {
    name: 'a refusal on its way to the ledger keeps no share from being posted',
    edits: [
      {
        file: 'src/workflows/consent/share-record.ts',
        find: ' && !isBlocked;',
        replace: ';',
      },
    ],
    tests: [{ path: 'test/model/share-consent.test.ts', title: 'a refusal on its way to the ledger' }],
  },
  {
    name: 'an inquiry has a number of its own for each customer',
    edits: [
      {
        file: 'src/ledger/claim.ts',
        find: '      known.otherNumber === undefined || wasClaimed(known) ||',
        replace: '      claim.attempt > 0 || known.otherNumber === undefined || wasClaimed(known) ||',
      },
    ],
    tests: [{ path: 'test/hazards/changed-customer.test.ts', title: 'is held, names the other inquiry' }],
  },
  {
    name: 'the connection of an attempt that is given up is closed, and not reset',
    edits: [
      {
        file: 'src/gateway/connections.ts',
        find: '    if (request && !request.completed && !tcp.destroyed) {\n',
        replace: '    if (request?.completed && !tcp.destroyed) {\n',
      },
    ],
    tests: [{ path: 'test/gateway/gateway-reset.test.ts', title: 'the rest of a request never arrives' }],
  },
  {
    name: 'a message in the clear counts outside the sandbox',
    edits: [
      {
        file: 'src/protection/payloads/payload-codec.ts',
        find: "  if (readEncoding(payload) !== 'json/plain') return;\n  if (mayLead",
        replace: "  if (readEncoding(payload) !== 'json/plain' || payload.data) return;\n  if (mayLead",
      },
    ],
    tests: [{ path: 'test/workflows/outside-sandbox.test.ts', title: 'are refused if they can lead to a posting' }],
  },
  {
    name: 'made-up applicants are sent to a real gateway',
    edits: [
      {
        file: 'src/gateway/made-up-applicants.ts',
        find: "  if (environment === 'sandbox') return [];\n",
        replace: "  if (environment !== 'production') return [];\n",
      },
    ],
    tests: [{ path: 'test/gateway/made-up-applicants.test.ts', title: 'the samples’ own applicants are refused' }],
  },
  {
    name: 'a record is accepted although the provider was not asked',
    edits: [
      {
        file: 'src/model/provider-word.ts',
        find: '  if (words.includes(decision.providerSaid)) return null;\n',
        replace: "  if (decision.action === 'accept' || words.includes(decision.providerSaid)) return null;\n",
      },
    ],
    tests: [{ path: 'test/model/failure-types.test.ts', title: 'a record is accepted only if the provider' }],
  },
  {
    name: 'a decision that was overtaken is answered as accepted',
    edits: [
      {
        file: 'src/workflows/run/holds.ts',
        find: '  return { verdict, effect: action',
        replace: "  return { verdict: latest.attempt < 0 ? verdict : 'recorded', effect: action",
      },
    ],
    tests: [
      { path: 'test/hazards/operator-decisions.test.ts', title: 'that another decision has overtaken is refused' },
    ],
  },
  {
    name: 'a worker without the profile refuses what another one would take',
    edits: [
      {
        file: 'src/activities/dependencies.ts',
        find: 'PROFILE_NAME.test(name) ?',
        replace: 'PROFILE_NAME.test(name) && name.length > 100 ?',
      },
    ],
    tests: [{ path: 'test/hazards/profile-missing-slow.test.ts', title: 'leaves every start to a worker that has it' }],
  },
  {
    name: 'a decision is recorded whatever its proof',
    edits: [
      {
        file: 'src/activities/ledger-activities.ts',
        find: "    if (!verdict.accepted) return { kind: 'refused', cause: 'unproven', reason: `/proof ${verdict.rule}` };\n    const { keyId } = verdict;\n",
        replace: '    const { keyId } = verdict.accepted ? verdict : {};\n',
      },
    ],
    tests: [{ path: DECISION_PROOFS, title: 'is refused for a journey without a valid proof' }],
  },
  {
    name: 'a repeat is accepted whatever its proof',
    edits: [
      {
        file: 'src/activities/ledger-activities.ts',
        find: '      if (!verdict.accepted) throw',
        replace: '      if (!verdict.accepted && content.occurrence < 0) throw',
      },
    ],
    tests: [{ path: DECISION_PROOFS, title: 'needs a proof also as a repeat' }],
  },
  {
    name: 'a decision is written into the ledger whatever its proof',
    edits: [
      {
        file: 'src/operator/decide.ts',
        find: "  if (!judged.accepted) return throwRefusal({ customerTraceNumber }, refuse('unproven', `/proof ${judged.rule}`));\n  const proven = judged.keyId === undefined ? record : { ...record, provenBy: judged.keyId };\n",
        replace: '  const proven = judged.accepted && judged.keyId ? { ...record, provenBy: judged.keyId } : record;\n',
      },
    ],
    tests: [{ path: DECISION_PROOFS, title: 'needs a proof also for an inquiry whose run has been terminated' }],
  },
];
