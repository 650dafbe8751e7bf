/** One question with few answers. A digit chooses one and goes on to what is asked next. */
interface Answer {
  value: string;
  /** In front of the words. */
  name?: string;
  words: string;
}

interface GroupProps {
  /** Names the step, for what goes on from it. */
  step: string;
  legend: string;
  answers: readonly Answer[];
  value: string | undefined;
  isLocked?: boolean;
  onChoose: (value: string) => void;
}

export function AnswerGroup({ step, legend, answers, value, isLocked = false, onChoose }: GroupProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const answer = answers[Number(event.key) - 1];
    if (!answer || event.ctrlKey || event.metaKey || event.altKey || isLocked) return;
    event.preventDefault();
    onChoose(answer.value);
    const { currentTarget } = event;
    // What is asked next may come by this very answer.
    if (currentTarget instanceof HTMLElement) setTimeout(() => focusAfter(currentTarget), 0);
  };
  return (
    <fieldset class="answers" data-step={step} disabled={isLocked} onKeyDown={onKeyDown}>
      <legend>{legend}</legend>
      {answers.map((answer, at) => (
        <label key={answer.value}>
          <input
            type="radio"
            name={step}
            value={answer.value}
            checked={value === answer.value}
            onChange={() => onChoose(answer.value)}
          />
          <span>
            {answer.name ? <b>{answer.name}. </b> : null}
            {answer.words}
          </span>
          <kbd>{at + 1}</kbd>
        </label>
      ))}
    </fieldset>
  );
}

const FIELDS = 'input:not(:disabled), textarea:not(:disabled), select:not(:disabled)';

function focusAfter(fieldset: HTMLElement): void {
  const steps = [...(fieldset.closest('form')?.querySelectorAll<HTMLElement>('[data-step]') ?? [])];
  const next = steps[steps.indexOf(fieldset) + 1];
  if (next) focusStep(next);
}

/** The answer that was chosen, or the first field. */
export function focusStep(step: HTMLElement): void {
  const field = step.querySelector<HTMLElement>('input:checked') ?? step.querySelector<HTMLElement>(FIELDS);
  (field ?? step).focus();
}

/** The first thing that the form asks, where nothing is answered; otherwise the first that is not. */
export function focusFirstStep(form: HTMLElement | null): void {
  const steps = [...(form?.querySelectorAll<HTMLElement>('[data-step]') ?? [])];
  const open = steps.find((step) => step.querySelector('input[type=radio]') && !step.querySelector('input:checked'));
  const first = open ?? steps.find((step) => !step.querySelector('input[type=radio]')) ?? steps[0];
  if (first) focusStep(first);
}
