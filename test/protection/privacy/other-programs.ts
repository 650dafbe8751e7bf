/** Requests to the codec server and the command line: permitted ones and forbidden ones. */
import { type JourneyHandle, newSsn } from '../../support/journey-harness.ts';
import { payloadOf } from '../codec-fixtures.ts';
import { disguised } from './people.ts';
import type { World } from './world.ts';

/** Whether it is answered or refused is for other tests; some of it must have been given out. */
export async function askCodecServer(
  world: World,
  endpoint: string,
  journey: JourneyHandle,
  refusal: string,
): Promise<string> {
  const person = disguised({ applicantId: '1A', ssn: newSsn() });
  world.seen.add('ssn', person.ssn);
  const [{ last = '' } = {}] = person.names;
  const ask = async (path: string, body?: string) => {
    const answer = await fetch(`${endpoint}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': world.server.namespace },
      ...(body === undefined ? {} : { body }),
    });
    return answer.text();
  };
  const payload = payloadOf(person);
  const json = {
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    data: Buffer.from(payload.data ?? []).toString('base64'),
  };
  const encoded = await ask('/encode', JSON.stringify({ payloads: [json] }));
  const journeyId = journey.workflowId.replace('journey-', '');
  const answers = await Promise.all([
    ask('/decode', encoded),
    ask('/reveal/decode', encoded),
    ask(`/journeys/${journeyId}/reports/PREQUAL`),
    ask(`/reveal/journeys/${journeyId}/reports/PREQUAL`),
    ask(`/journeys/${journeyId}/references`),
    ask(`${refusal}?purpose=what%20to%20amend`),
    ask(`/reveal${refusal}`),
    ask('/decode', `${JSON.stringify(person)},,`),
    ask('/encode', JSON.stringify({ payloads: [person, last] })),
    ask(`/journeys/${person.ssn}/reports/${last}`),
    ask(`/journeys/${encodeURIComponent(person.emailAddress)}/references?ssn=${person.ssn}`),
  ]);
  return answers.join('\n');
}

/** What operators see of the namespace and of one journey; and what happens to input that cannot be read. */
export async function runCommands(world: World, { workflowId }: JourneyHandle): Promise<void> {
  const person = disguised({ applicantId: '1A', ssn: newSsn() });
  world.seen.add('ssn', person.ssn);
  const broken = `${JSON.stringify({ applicants: [person] })},,`;
  const commands: [string[], string?][] = [
    [['status', workflowId.replace('journey-', '')]],
    [['list', '--limit', '1000']],
    [['holds']],
    [['doctor']],
    [['start', '--file', '-'], broken],
  ];
  for (const [args, stdin] of commands) await world.runCommand(args, stdin);
}
