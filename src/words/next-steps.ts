/** Commands that open a gate, grant a share or revoke its grant. Pure. */

import type { StageCode } from '../model/products.ts';
import { parseRunKey } from '../model/run-key.ts';
import type { SecondaryUser } from '../model/stage-end-user.ts';
import { type RunView, readRunKey } from './runs.ts';

export interface NextStep {
  title: string;
  /** The name of the update. */
  update: string;
  ways: { words?: string; command: string }[];
}

const SIGNED = '--by WHO --reason WHY';

/** Returns the steps that end the run's wait, unless it waits for a decision. */
export function findNextSteps(view: RunView): NextStep[] {
  const { status, holds, isEnding = false } = view;
  const runKey = readRunKey(status);
  if (holds.length > 0 || isEnding || 'reviewId' in status || 'pullId' in status) return [];
  if ('shareId' in status) {
    const [applicantId] = status.consentsMissing;
    if (applicantId === undefined) return [];
    return listConsentSteps({ runKey, shareId: status.shareId, applicantId, secondaryUser: view.sharedWith ?? {} });
  }
  const { stages = status.stages, gate } = view;
  const shares: NonNullable<RunView['shares']> = view.shares ?? status.shares;
  if (gate) return listGateSteps(status.journeyId, { before: gate.before, stages, tooOld: status.reportTooOld });
  if (stages.some(({ state }) => state === 'running') || shares.some(({ state }) => state === 'posting')) return [];
  const waiting = shares.find(({ state }) => state === 'awaitingConsent');
  const [applicantId] = waiting?.waitingFor ?? [];
  if (!waiting || applicantId === undefined) return [];
  return listConsentSteps({ runKey, shareId: waiting.shareId, applicantId, secondaryUser: waiting.sharedWith ?? {} });
}

interface ClosedGate {
  before: StageCode;
  stages: NonNullable<RunView['stages']>;
  /** The stage whose report is too old. */
  tooOld: StageCode | undefined;
}

function listGateSteps(journeyId: string, { before, stages, tooOld }: ClosedGate): NextStep[] {
  const shell = `credit-journey advance ${journeyId} \\\n`;
  const pending = stages.filter(({ state }) => state === 'pending').map(({ productCode }) => productCode);
  const after = pending[pending.indexOf(before) + 1];
  const ways: NextStep['ways'] = [];
  if (tooOld === undefined) {
    ways.push({ command: `${shell} --to ${before}` });
  } else {
    const occurrence = (stages.findLast(({ productCode }) => productCode === tooOld)?.occurrence ?? 1) + 1;
    ways.push(
      {
        words: `Pull ${tooOld} once more, a further inquiry:`,
        command: `${shell} --repeat ${tooOld} --occurrence ${occurrence} \\\n ${SIGNED}`,
      },
      {
        words: 'Or accept the report as it is:',
        command: `${shell} --to ${before} --accept-age \\\n ${SIGNED}`,
      },
    );
  }
  if (after !== undefined) {
    ways.push({
      words: `Or ${after} follows without ${before}, which is never pulled:`,
      command: `${shell} --to ${after} --skip ${before} \\\n ${SIGNED}`,
    });
  }
  return [{ title: 'What passes the gate', update: 'advance', ways }, extendStep(journeyId, { gate: before })];
}

function extendStep(runKey: string, wait: { gate: StageCode } | { shareId: string }): NextStep {
  const { kind } = parseRunKey(runKey);
  const option = 'gate' in wait ? ` --gate ${wait.gate}` : kind === 'share' ? '' : ` --share-id ${wait.shareId}`;
  const command = `credit-journey extend ${runKey}${option} \\\n --until WHEN ${SIGNED}`;
  return { title: 'To make the wait longer', update: 'extend', ways: [{ command }] };
}

interface ConsentWait {
  runKey: string;
  shareId: string;
  applicantId: string;
  secondaryUser: SecondaryUser;
}

function listConsentSteps({ runKey, shareId, applicantId, secondaryUser }: ConsentWait): NextStep[] {
  const isOwnRun = parseRunKey(runKey).kind === 'share';
  const { endUserCode, endUser } = secondaryUser;
  const user = [
    ...(endUserCode === undefined ? [] : [`--end-user-code ${quote(endUserCode)}`]),
    ...(endUser === undefined ? [] : [`--end-user ${quote(endUser)}`]),
  ].join(' ');
  return [
    {
      title: 'To grant or refuse it',
      update: 'recordConsent',
      ways: [
        {
          words: 'The consent system sends it. By hand:',
          command: `credit-journey consent ${runKey} \\\n --share-id ${shareId} --applicant-id ${applicantId} \\\n ${user} \\\n --consent-id ID --decision granted \\\n --method HOW --text-version VERSION \\\n --reference WHERE`,
        },
      ],
    },
    extendStep(runKey, { shareId }),
    {
      title: 'What takes it back',
      update: isOwnRun ? 'withdraw' : 'withdrawShare',
      ways: [
        {
          words: 'Before it is sent; a corrected share takes another id and consents of its own:',
          command: `credit-journey withdraw ${isOwnRun ? runKey : `${runKey} --share-id ${shareId}`} \\\n ${SIGNED}`,
        },
      ],
    },
  ];
}

/** One word of a shell. */
function quote(text: string): string {
  return /^[\w.~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
