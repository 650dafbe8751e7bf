/** Reads reports and references from the codec server, for clients that have a token and neither database nor key. */
import { defined } from '../../base/defined.ts';
import { isRecord } from '../../base/is-record.ts';
import { member, parseJson } from '../../base/json-safety.ts';
import { OtherEndUserError } from '../../model/credit-journey-error.ts';
import type { CodecServerConnection } from '../connection/codec-server-connection.ts';
import { CodecServerError } from '../connection/codec-server-error.ts';
import { JourneyDisposedError } from '../connection/errors.ts';
import type {
  JourneyChanges,
  JourneyReport,
  ReportRequest,
  StoredReferences,
  StoredRefusalBody,
  StoredReports,
} from './stored-report.ts';

/** `CodecServerError` of both; `JourneyDisposedError` where it was there and was destroyed. */
export function remoteReports(connection: CodecServerConnection): StoredReports {
  const askFor = async (address: string, id: string) => {
    try {
      const text = await connection.ask(address);
      return text === null ? undefined : answerIn(text);
    } catch (error) {
      if (error instanceof CodecServerError && error.code === 'disposed') throw new JourneyDisposedError(id);
      if (error instanceof CodecServerError && error.code === 'otherEndUser') throw new OtherEndUserError();
      throw error;
    }
  };
  const ask = (journeyId: string, what: string) =>
    askFor(`/journeys/${encodeURIComponent(journeyId)}${what}`, journeyId);
  return {
    report: async (journeyId, productCode, request = {}) => {
      const address = `/reports/${encodeURIComponent(productCode)}${queryOf(request)}`;
      return (await ask(journeyId, address)) as JourneyReport | undefined;
    },
    refusal: async (customerTraceNumber, attempt, reader = {}) => {
      const address = `/inquiries/${encodeURIComponent(customerTraceNumber)}/attempts/${attempt}/refusal${queryOf(reader)}`;
      return (await askFor(address, customerTraceNumber)) as StoredRefusalBody | undefined;
    },
    changes: async (journeyId, reader = {}) =>
      (await ask(journeyId, `/changes${queryOf(reader)}`)) as JourneyChanges | undefined,
    references: async (journeyId) => (await ask(journeyId, '/references')) as unknown as StoredReferences | undefined,
  };
}

function queryOf({ customerTraceNumber, by, purpose, endUser }: ReportRequest): string {
  const query = new URLSearchParams(defined({ customerTraceNumber, by, purpose, endUser })).toString();
  return query === '' ? '' : `?${query}`;
}

/** Refuses an answer without `redacted`: a reader could not tell a masked report from a full one. */
function answerIn(text: string): object {
  const [answer] = parseJson(text) ?? [];
  if (isRecord(answer) && typeof member(answer, 'redacted') === 'boolean') return answer;
  throw new CodecServerError('unexpected');
}
