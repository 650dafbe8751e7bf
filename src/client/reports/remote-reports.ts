/** Reads reports and references from the codec server, for clients that have a token and neither database nor key. */
import { isRecord } from '../../base/is-record.ts';
import { member, parseJson } from '../../base/json-safety.ts';
import type { CodecServerConnection } from '../connection/codec-server-connection.ts';
import { CodecServerError } from '../connection/codec-server-error.ts';
import { JourneyDisposedError } from '../connection/errors.ts';
import type { JourneyChanges, JourneyReport, StoredReferences, StoredReports } from './stored-report.ts';

/** `CodecServerError` of both; `JourneyDisposedError` where it was there and was destroyed. */
export function remoteReports(connection: CodecServerConnection): StoredReports {
  const ask = async (journeyId: string, what: string) => {
    try {
      const text = await connection.ask(`/journeys/${encodeURIComponent(journeyId)}${what}`);
      return text === null ? undefined : answerIn(text);
    } catch (error) {
      if (error instanceof CodecServerError && error.code === 'disposed') throw new JourneyDisposedError(journeyId);
      throw error;
    }
  };
  return {
    report: async (journeyId, productCode, customerTraceNumber) => {
      const query =
        customerTraceNumber === undefined ? '' : `?customerTraceNumber=${encodeURIComponent(customerTraceNumber)}`;
      return (await ask(journeyId, `/reports/${encodeURIComponent(productCode)}${query}`)) as JourneyReport | undefined;
    },
    changes: async (journeyId) => (await ask(journeyId, '/changes')) as JourneyChanges | undefined,
    references: async (journeyId) => (await ask(journeyId, '/references')) as unknown as StoredReferences | undefined,
  };
}

/** Refuses an answer without `redacted`: a reader could not tell a masked report from a full one. */
function answerIn(text: string): object {
  const [answer] = parseJson(text) ?? [];
  if (isRecord(answer) && typeof member(answer, 'redacted') === 'boolean') return answer;
  throw new CodecServerError('unexpected');
}
