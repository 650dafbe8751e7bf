/** Several holds at once: those that were chosen in the queue, or those that the provider has answered for. */
import { useState } from 'preact/hooks';
import { get, withQuery, wordsOf } from '../api/call.ts';
import type { Hold, HoldList, Session } from '../api/schemas.ts';
import { useTitle } from '../base/focus.ts';
import { useKeys } from '../base/keys.ts';
import { goTo, queueAddress } from '../base/route.ts';
import { plural } from '../base/words.ts';
import { chooseNone, chosen } from '../queue/chosen.ts';
import { Pile } from './pile.tsx';
import { readAnswers, type Said } from './provider-file.ts';

const PAGE = 200;
/** 20,000 holds: whoever has more takes the command line. */
const MOST_PAGES = 100;

interface Matched {
  piles: readonly { said: Said; failureType: string; holds: readonly Hold[] }[];
  /** Trace numbers that nothing is on hold under. */
  leftOut: readonly string[];
}

export function TogetherView({ session }: { session: Session }) {
  // As it was when the view was opened: what is decided goes from the choice, and its results stay on the screen.
  const [picked] = useState(() => [...chosen.get().values()]);
  const [matched, match] = useState<Matched>();
  useTitle('Decide together');
  useKeys({ Escape: () => goTo(queueAddress()) });
  const failureType = picked[0]?.failureType;
  return (
    <main id="main" tabIndex={-1} class="together">
      <p class="back">
        <a href={queueAddress()}>
          The queue <kbd>Esc</kbd>
        </a>
      </p>
      <h1>Decide together</h1>
      {picked.length > 0 ? (
        <Pile
          title={`${plural(picked.length, 'hold')} of ${failureType}`}
          holds={picked}
          session={session}
          onDecided={chooseNone}
        />
      ) : (
        <AnswersForm onMatched={match} />
      )}
      {matched ? <Piles matched={matched} session={session} /> : null}
    </main>
  );
}

function Piles({ matched: { piles, leftOut }, session }: { matched: Matched; session: Session }) {
  return (
    <>
      {piles.length === 0 ? <p class="nothing">Nothing is on hold under any of these trace numbers.</p> : null}
      {piles.map(({ said, failureType, holds }) => (
        <Pile
          key={`${said} ${failureType} ${holds.map(({ holdId }) => holdId).join()}`}
          title={`${plural(holds.length, 'hold')} of ${failureType}: ${said === 'posted' ? 'posted' : 'not posted'}`}
          {...{ said, holds, session }}
          onDecided={() => {}}
        />
      ))}
      {leftOut.length > 0 ? (
        <section>
          <h2>Left out</h2>
          <p>Nothing is on hold under {plural(leftOut.length, 'trace number')}, as far as your token reaches:</p>
          <p class="traces">
            {leftOut.map((trace) => (
              <code key={trace}>{trace}</code>
            ))}
          </p>
        </section>
      ) : null}
    </>
  );
}

function AnswersForm({ onMatched }: { onMatched: (matched: Matched) => void }) {
  const [text, type] = useState('');
  const [words, tell] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const load = async (file: File | undefined) => {
    if (file) type(await file.text());
  };
  const find = async () => {
    const { answers, problems } = readAnswers(text);
    if (problems.length > 0 || answers.size === 0) {
      tell(problems.length > 0 ? problems.map(({ line, rule }) => `Line ${line} ${rule}.`) : ['There are no lines.']);
      return;
    }
    setBusy(true);
    try {
      onMatched(await matchedWith(answers));
      tell([]);
    } catch (error) {
      tell([wordsOf(error)]);
    }
    setBusy(false);
  };
  return (
    <form
      class="decision answers-form"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
      }}
    >
      <h2>The provider’s answers</h2>
      <p id="answers-format">
        One inquiry a line: its trace number, then <code>posted</code> or <code>not posted</code>, with a space, a tab
        or a comma between. Lines that begin with <code>#</code> are left out. Each answer counts for the attempt that
        is on hold now, which the preview names. The browser reads the file and does not keep it.
      </p>
      <label for="answers">Lines</label>
      <textarea
        id="answers"
        rows={8}
        spellcheck={false}
        aria-describedby="answers-format"
        placeholder={'PQLNW3EQ26XH2ZZOLSFOCN5GUK00 not posted\nPQRM7TQWNM4X2HZK6QJ3A2C5VA00 posted'}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <label class="file">
        Or a file
        <input
          type="file"
          accept=".txt,.csv,.tsv,text/plain,text/csv"
          onChange={(event) => void load(event.currentTarget.files?.[0])}
        />
      </label>
      {words.length > 0 ? (
        <div role="alert" class="warning">
          {words.map((one) => (
            <p key={one}>{one}</p>
          ))}
        </div>
      ) : null}
      <p class="buttons">
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Looking …' : 'Find their holds'}
        </button>
      </p>
      <p class="note">
        Where the holds are known without a file, choose their rows in <a href={queueAddress()}>the queue</a>: by mouse,
        or with <kbd>x</kbd>.
      </p>
    </form>
  );
}

/** The list is read from its beginning until each is found. */
async function matchedWith(answers: ReadonlyMap<string, Said>): Promise<Matched> {
  const left = new Set(answers.keys());
  const found: { said: Said; hold: Hold }[] = [];
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES && left.size > 0; page++) {
    const path = withQuery('/v1/holds', { kind: 'held', limit: String(PAGE), after });
    const { data: holds, next } = await get<HoldList>(path);
    for (const hold of holds) {
      const said = answers.get(hold.customerTraceNumber ?? '');
      if (said === undefined || !hold.attempt || !left.delete(hold.customerTraceNumber ?? '')) continue;
      found.push({ said, hold });
    }
    after = next;
    if (after === undefined) break;
  }
  const piles = [...Map.groupBy(found, ({ said, hold }) => `${said} ${hold.failureType}`).values()].flatMap((of) => {
    const [first] = of;
    return first ? [{ said: first.said, failureType: first.hold.failureType, holds: of.map(({ hold }) => hold) }] : [];
  });
  return { piles, leftOut: [...left] };
}
