/** Requests to the codec server, the HTTP API and the command line: permitted ones and forbidden ones. */
import { type JourneyHandle, journeyInput, newSsn } from '../../support/journey-harness.ts';
import { payloadOf } from '../codec-fixtures.ts';
import { disguised } from './people.ts';
import type { World } from './world.ts';

/** Other tests check the answers. Some of the calls must have returned personal data. */
export async function askCodecServer(world: World, endpoint: string): Promise<string> {
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
  const answers = await Promise.all([
    ask('/decode', encoded),
    ask('/reveal/decode', encoded),
    ask('/decode', `${JSON.stringify(person)},,`),
    ask('/encode', JSON.stringify({ payloads: [person, last] })),
    ask(`/decode/${person.ssn}?ssn=${encodeURIComponent(person.emailAddress)}`),
  ]);
  return answers.join('\n');
}

/** Reports, references and a refusal over the HTTP API, masked and whole. They give out what is personal. */
export async function readReports(
  world: World,
  { url, token }: { url: string; token: string },
  { journey, refusal }: { journey: JourneyHandle; refusal: string },
): Promise<string> {
  const person = disguised({ applicantId: '1A', ssn: newSsn() });
  world.seen.add('ssn', person.ssn);
  const [{ last = '' } = {}] = person.names;
  const ask = async (path: string) =>
    (await fetch(`${url}/v1${path}`, { headers: { authorization: `Bearer ${token}` } })).text();
  const journeyId = journey.workflowId.replace('journey-', '');
  const answers = await Promise.all([
    ask(`/runs/${journeyId}/reports/PREQUAL`),
    ask(`/runs/${journeyId}/reports/PREQUAL?reveal=true`),
    ask(`/runs/${journeyId}/references`),
    ask(refusal),
    ask(`${refusal}?reveal=true`),
    ask(`/runs/${person.ssn}/reports/${last}`),
    ask(`/runs/${encodeURIComponent(person.emailAddress)}/references?ssn=${person.ssn}`),
  ]);
  return answers.join('\n');
}

/** Valid and invalid calls to the HTTP API, whose answers must repeat nothing personal. */
export async function askApi(world: World, { url, token }: { url: string; token: string }): Promise<string> {
  const person = disguised({ applicantId: '1A', ssn: newSsn() });
  world.seen.add('ssn', person.ssn);
  const [{ last = '' } = {}] = person.names;
  const ask = async (path: string, body?: object | string) => {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-request-id': person.ssn },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return [answer.status, await answer.text()].join(' ');
  };
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [person] });
  const at = `/v1/journeys/${input.journeyId}`;
  const answers = [
    await ask('/v1/journeys', input),
    await ask('/v1/journeys', { ...input, applicants: [{ ...person, ssn: `9${person.ssn.slice(1)}0` }] }),
    await ask('/v1/journeys', { ...input, journeyId: person.ssn, [last]: person }),
    await ask('/v1/journeys', `${JSON.stringify(input)},,`),
    await ask(at),
    await ask(`${at}/advance`, { to: last, applicants: [person] }),
    await ask(`${at}/withdrawal`, { reason: 'x', [person.emailAddress]: last }),
    await ask('/v1/consents', { journeyId: input.journeyId, shareId: person.ssn, applicantId: last }),
    await ask(`/v1/journeys/${person.ssn}?after=${encodeURIComponent(person.emailAddress)}`),
    await ask('/v1/journeys?limit=5'),
  ];
  return answers.join('\n');
}

/** Commands of operators about the namespace and one journey, and commands with unreadable input. */
export async function runCommands(world: World, { workflowId }: JourneyHandle): Promise<void> {
  const person = disguised({ applicantId: '1A', ssn: newSsn() });
  world.seen.add('ssn', person.ssn);
  const broken = `${JSON.stringify({ applicants: [person] })},,`;
  const commands: [string[], string?][] = [
    [['status', workflowId.replace('journey-', '')]],
    [['list', '--limit', '200']],
    [['holds']],
    [['doctor']],
    [['start', '--file', '-'], broken],
  ];
  for (const [args, stdin] of commands) await world.runCommand(args, stdin);
}
