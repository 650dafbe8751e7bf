import { setCurrentDetails } from '@temporalio/workflow';

/**
 * Sets current details that are built when the UI asks for them. The SDK keeps the object and serializes it on request,
 * so its `toJSON` builds the text from the state at that time. No history has it.
 */
export function showDetails(build: () => string): void {
  const details: { toJSON(): string } = { toJSON: build };
  setCurrentDetails(details as unknown as string);
}
