/** The keys, in a dialog. */
import { useEffect, useRef } from 'preact/hooks';

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['/', 'search'],
      ['?', 'these keys'],
      ['g', 'the queue'],
      ['u', 'refresh, and remove what has gone'],
      ['Esc', 'back'],
    ],
  ],
  [
    'In the queue',
    [
      ['j k ↓ ↑', 'next, previous'],
      ['Enter', 'open'],
      ['x', 'choose for a decision together'],
      ['t', 'decide what is chosen together'],
    ],
  ],
  [
    'On a hold',
    [
      ['r a m b s', 'resend, accept, amend, abandon, seen'],
      ['1 2 3 4', 'in a group of answers: choose, and go on'],
      ['Ctrl Enter', 'send what is shown'],
      ['n', 'after a decision: the next hold'],
    ],
  ],
];

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keys</h2>
      {KEYS.map(([where, keys]) => (
        <section key={where}>
          <h3>{where}</h3>
          <dl>
            {keys.map(([names, what]) => (
              <div key={names}>
                <dt>
                  {names.split(' ').map((name) => (
                    <kbd key={name}>{name}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
