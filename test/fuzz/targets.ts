/** What is fuzzed, by name. Each is loaded when it runs. */
import type { OpenTarget } from './property.ts';

export const TARGET_NAMES = ['gateway', 'validators', 'codec', 'cli', 'messages', 'api'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

export function isTargetName(name: string): name is TargetName {
  return (TARGET_NAMES as readonly string[]).includes(name);
}

export async function openTarget(name: TargetName): Promise<OpenTarget> {
  switch (name) {
    case 'gateway':
      return (await import('./gateway.ts')).openGateway();
    case 'messages':
      return (await import('./messages.ts')).openMessages();
    case 'validators':
      return (await import('./validators.ts')).openValidators();
    case 'codec':
      return (await import('./codec.ts')).openCodec();
    case 'cli':
      return (await import('./cli.ts')).openCli();
    case 'api':
      return (await import('./api.ts')).openApi();
  }
}
