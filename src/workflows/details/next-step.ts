/** What passes a gate or grants a share, as a command and as input of the Temporal UI's form. Pure. */

import { ID_NAMES, ownerOf } from '../../model/owner-id.ts';
import type { StageCode } from '../../model/products.ts';
import type { SecondaryUser } from '../../model/secondary-user.ts';
import { block, plain } from './markdown.ts';

interface Gate {
  journeyId: string;
  before: StageCode;
  /** The stage after it, where there is one. */
  after?: StageCode;
  /** The stage whose report is too old, and which pull of it would come next. */
  tooOld?: { stage: StageCode; occurrence: number };
}

export function gateSection({ journeyId, before, after, tooOld }: Gate): string {
  const who = { by: '', reason: '' };
  const shell = `credit-journey advance ${journeyId} \\\n`;
  const skipping = after
    ? [
        {
          words: `Or ${after} follows without ${before}, which is never pulled:`,
          command: `${shell} --to ${after} --skip ${before} \\\n --by WHO --reason WHY`,
          input: { journeyId, to: after, skip: before, ...who },
        },
      ]
    : [];
  const longer = extendSection(journeyId, { gate: before });
  if (!tooOld) {
    const pass = { words: '', command: `${shell} --to ${before}`, input: { journeyId, to: before } };
    return `${section('What passes the gate', 'advance', [pass, ...skipping])}\n\n${longer}`;
  }
  const { stage, occurrence } = tooOld;
  const passing = section('What passes the gate', 'advance', [
    {
      words: `Pull ${stage} once more, a further inquiry:`,
      command: `${shell} --repeat ${stage} --occurrence ${occurrence} \\\n --by WHO --reason WHY`,
      input: { journeyId, repeat: stage, occurrence, ...who },
    },
    {
      words: 'Or the report will do as it is:',
      command: `${shell} --to ${before} --accept-age \\\n --by WHO --reason WHY`,
      input: { journeyId, to: before, acceptAge: true, ...who },
    },
    ...skipping,
  ]);
  return `${passing}\n\n${longer}`;
}

/** @param id as the command line takes it */
function extendSection(id: string, wait: { gate: StageCode } | { shareId: string }): string {
  const { kind, id: runId } = ownerOf(id);
  const option = 'gate' in wait ? ` --gate ${wait.gate}` : kind === 'share' ? '' : ` --share ${wait.shareId}`;
  return section('What makes it wait longer', 'extend', [
    {
      words: '',
      command: `credit-journey extend ${id}${option} \\\n --until WHEN --by WHO --reason WHY`,
      input: { [ID_NAMES[kind]]: runId, ...wait, until: '', by: '', reason: '' },
    },
  ]);
}

interface ConsentWait {
  /** As a consent names it. */
  journeyId: string;
  shareId: string;
  applicantId: string;
  secondaryUser: SecondaryUser;
}

export function consentSection({ journeyId, shareId, applicantId, secondaryUser }: ConsentWait): string {
  const { endUserCode, endUser } = secondaryUser;
  const user = [
    ...(endUserCode === undefined ? [] : [`--end-user-code ${quoted(endUserCode)}`]),
    ...(endUser === undefined ? [] : [`--end-user ${quoted(endUser)}`]),
  ].join(' ');
  const words = `The consent system sends it. By hand, of ${plain(applicantId)}; \`decision\` is \`granted\`, or \`denied\` without \`evidence\`:`;
  const granting = section('What grants or refuses it', 'recordConsent', [
    {
      words,
      command: `credit-journey consent ${journeyId} \\\n --share ${shareId} --applicant ${applicantId} \\\n ${user} \\\n --consent-id ID --decision granted \\\n --method HOW --text-version VERSION \\\n --reference WHERE`,
      input: {
        ...{ journeyId, shareId, applicantId, consentId: '', decision: '', decidedAt: '', secondaryUser },
        evidence: { method: '', textVersion: '', capturedAt: '', reference: '' },
      },
    },
  ]);
  return `${granting}\n\n${extendSection(journeyId, { shareId })}`;
}

/** @param run as its messages name it: a journey with its share, or a share by itself */
export function takeBackSection(run: { journeyId: string; shareId: string } | { shareId: string }): string {
  const ofJourney = 'journeyId' in run ? run.journeyId : undefined;
  const named = ofJourney === undefined ? `share:${run.shareId}` : `${ofJourney} --share ${run.shareId}`;
  return section('What takes it back', ofJourney === undefined ? 'withdraw' : 'withdrawShare', [
    {
      words: 'Before it is sent; a corrected share takes another id and consents of its own:',
      command: `credit-journey withdraw ${named} \\\n --by WHO --reason WHY`,
      input: { ...run, by: '', reason: '' },
    },
  ]);
}

function section(
  title: string,
  update: string,
  ways: readonly { words: string; command: string; input: object }[],
): string {
  const here = `In a shell the command; here _More Actions_, _Send an Update_, \`${update}\`, with the JSON.`;
  const parts = ways.flatMap(({ words, command, input }) => [
    ...(words === '' ? [] : [words]),
    block(command),
    block(JSON.stringify(input, null, 1)),
  ]);
  return [`### ${title}`, here, ...parts].join('\n\n');
}

/** One word of a shell. */
function quoted(text: string): string {
  return /^[\w.~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
