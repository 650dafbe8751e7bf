/** A sound storm with copies of the API, and what breaks the promises about them one at a time. */
import type { Evidence, RunEvidence } from './evidence.ts';
import type { ApiAnswer, ApiEvidence, MessageTaken } from './evidence-api.ts';
import { answeredIsKept, appliedOnce, foreignLooksUnknown } from './invariants/api.ts';
import type { Invariant } from './invariants/invariant.ts';
import { at } from './sound-evidence.ts';

const JOURNEY = 'J-SHARED';
const INPUT = { journeyId: JOURNEY, endUserCode: 'EU123' };
const IDS = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] as const;
const GRANT = { shareId: 'S1', applicantId: '1A', consentId: 'C-1A', decision: 'granted' } as const;

function answer(message: string, key: string, body: object, said: ApiAnswer['said'] = {}): ApiAnswer {
  return { atMs: at(70), runKey: JOURNEY, message, key, body, said: { duplicate: false, ...said } };
}

/** A start, a gate that was passed by a message sent twice, a consent, and a stranger who was told nothing. */
export function addApi(evidence: Evidence): Evidence {
  const run = runOf(evidence);
  const advance = { name: 'advance', atMs: at(30), content: { journeyId: JOURNEY, to: 'PREAPP' } };
  run.start = { isOwnStart: true, input: INPUT };
  run.messages = IDS.map((id, nth) => ({ ...advance, updateId: `advance-PREAPP-1-${id}`, isApplied: nth === 0 }));
  evidence.api = {
    answers: [
      answer('start', 'start', INPUT),
      answer('advance', 'advance-PREAPP-1', { to: 'PREAPP' }),
      answer('advance', 'advance-PREAPP-1', { to: 'PREAPP' }, { duplicate: true }),
      answer('recordConsent', 'consent-S1-1A-C-1A-granted', { journeyId: JOURNEY, ...GRANT }, { recorded: true }),
    ],
    foreign: [{ what: 'status by a token of another profile', runKey: JOURNEY, status: 404, looksUnknown: true }],
  };
  return evidence;
}

function runOf({ runs }: Evidence): RunEvidence {
  return runs.find(({ workflowId }) => workflowId === `journey-${JOURNEY}`) as RunEvidence;
}

function messagesIn(evidence: Evidence): MessageTaken[] {
  return runOf(addApi(evidence)).messages ?? [];
}

/** As the only one. */
function answered(evidence: Evidence, one: ApiAnswer): void {
  (addApi(evidence).api as ApiEvidence).answers = [one];
}

interface Doctored {
  what: string;
  caughtBy: Invariant;
  as: RegExp;
  doctor(evidence: Evidence): void;
}

export const DOCTORED_API: readonly Doctored[] = [
  {
    what: 'a message that was answered, and that no history has',
    caughtBy: answeredIsKept,
    as: /J-SHARED advance-PREAPP-1: answered, and is in no history/,
    doctor: (evidence) => void messagesIn(evidence).splice(0),
  },
  {
    what: 'a message that came to Temporal after its answer',
    caughtBy: answeredIsKept,
    as: /J-SHARED advance-PREAPP-1: answered before Temporal had it/,
    doctor(evidence) {
      for (const one of messagesIn(evidence)) one.atMs = at(71);
    },
  },
  {
    what: 'a message with another content than was sent',
    caughtBy: answeredIsKept,
    as: /J-SHARED advance-PREAPP-1: was kept as another/,
    doctor(evidence) {
      for (const one of messagesIn(evidence)) one.content = { to: 'PRECLOSE' };
    },
  },
  {
    what: 'a start that was answered, and of which there is no run',
    caughtBy: answeredIsKept,
    as: /J-LOST start: answered, and there is no run/,
    doctor: (evidence) => answered(evidence, { ...answer('start', 'start', INPUT), runKey: 'J-LOST' }),
  },
  {
    what: 'a run that was started after the answer said so',
    caughtBy: answeredIsKept,
    as: /J-SHARED start: answered before Temporal had it/,
    doctor: (evidence) => answered(evidence, { ...answer('start', 'start', INPUT), atMs: at(-1) }),
  },
  {
    what: 'a run with another input than was sent',
    caughtBy: answeredIsKept,
    as: /J-SHARED start: the run has another input/,
    doctor: (evidence) => answered(evidence, answer('start', 'start', { ...INPUT, endUserCode: 'EU777' })),
  },
  {
    what: 'a consent that was answered as recorded, and is nowhere',
    caughtBy: answeredIsKept,
    as: /C-9: answered as recorded, and is not in the ledger/,
    doctor(evidence) {
      const body = { journeyId: JOURNEY, ...GRANT, consentId: 'C-9' };
      answered(evidence, answer('recordConsent', 'consent-S1-1A-C-9', body, { recorded: true }));
    },
  },
  {
    what: 'a decision that was answered as recorded long before it was',
    caughtBy: answeredIsKept,
    as: /D-1: answered before the ledger had it/,
    doctor(evidence) {
      const [decision] = evidence.ledger.decisions;
      const { decisionId = '', customerTraceNumber = '' } = decision ?? {};
      const one = answer('resolveInquiry', decisionId, { decisionId, customerTraceNumber }, { recorded: true });
      answered(evidence, { ...one, atMs: at(40) });
    },
  },
  {
    what: 'a message that was sent twice, and had an effect twice',
    caughtBy: appliedOnce,
    as: /advance-PREAPP-1: applied 2 times/,
    doctor(evidence) {
      for (const one of messagesIn(evidence)) one.isApplied = true;
    },
  },
  {
    what: 'a message that had its effect before a hand-over and again after it',
    caughtBy: appliedOnce,
    as: /advance-PREAPP-1: applied 2 times/,
    doctor(evidence) {
      messagesIn(evidence);
      const before = Object.assign(runOf(evidence), { runId: 'run-before' });
      evidence.runs.push({ ...before, runId: 'run-2', continuedFrom: before.runId });
    },
  },
  {
    what: 'a start that was sent twice, and started two runs',
    caughtBy: appliedOnce,
    as: /journey-J-SHARED: started 2 times/,
    doctor(evidence) {
      addApi(evidence);
      evidence.runs.push({
        ...runOf(evidence),
        runId: 'run-2',
        startedAtMs: at(200),
        closedAtMs: at(210),
        messages: [],
      });
    },
  },
  {
    what: 'a run that a stranger was told about',
    caughtBy: foreignLooksUnknown,
    as: /J-SHARED: status by a token of another profile was answered with 403/,
    doctor(evidence) {
      const { api } = addApi(evidence);
      (api as ApiEvidence).foreign = api?.foreign.map((one) => ({ ...one, status: 403, looksUnknown: false })) ?? [];
    },
  },
];
