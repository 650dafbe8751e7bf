/** The layers of `src`, in wings, from the programs down to the base. Each folder imports only from those below it. */
export interface Layer {
  /** Below `src`. It includes its subfolders, unless they have a line of their own. */
  folder: string;
  what: string;
}

/** A part of the project that one sentence says. The picture in ARCHITECTURE.md has a box for each. */
export interface Wing {
  name: string;
  layers: readonly Layer[];
}

/** The top first. */
export const WINGS: readonly Wing[] = [
  {
    name: 'surfaces',
    layers: [
      { folder: 'cli.ts', what: 'the command line: registers the commands' },
      {
        folder: 'cli/commands',
        what: 'each command is a row: made of the operations, of the listings, or written; each loads what it needs',
      },
      { folder: 'cli/demo', what: 'the story of the demonstration, and made-up runs' },
      { folder: 'cli/output', what: 'lines, tables, JSON and exit codes' },
      { folder: 'worker.ts', what: 'the worker: its queues, and what it watches' },
      { folder: 'worker', what: 'the parts of a worker program' },
      { folder: 'doctor', what: 'checks an installation before it is used' },
      { folder: 'local', what: 'a development environment on one machine' },
      { folder: 'api', what: 'the HTTP API: serves the table of operations, its document and the page' },
      { folder: 'codec', what: 'the codec server: makes the Temporal UI readable' },
      { folder: 'health', what: 'liveness and readiness over HTTP' },
      {
        folder: 'operations',
        what: 'the table of operations, which HTTP and the command line print: inputs, outputs, scopes and how each is run',
      },
      {
        folder: 'operator',
        what: 'the client with the ledger, for the command line and the API: decisions, reports, disposal',
      },
      { folder: 'client.ts', what: 'the typed client’s public face' },
      { folder: 'client', what: 'starts runs, sends messages, reads results' },
      { folder: 'telemetry', what: 'logs, metrics and traces' },
    ],
  },
  {
    name: 'workflows',
    layers: [
      { folder: 'workflows', what: 'the runs: journeys, pulls, shares, reviews, webhook deliveries' },
      { folder: 'activities', what: 'what runs do outside workflow code' },
      {
        folder: 'words',
        what: 'says what happened and what may be done: runs, holds, records. Each surface prints it',
      },
      { folder: 'portfolio', what: 'the files of portfolio reviews' },
      { folder: 'changes', what: 'compares two reports' },
    ],
  },
  {
    name: 'runtime',
    layers: [
      { folder: 'http', what: 'what HTTP services share: tokens, limits, refusals, audit' },
      { folder: 'config', what: 'environment variables and files, checked' },
      { folder: 'temporal', what: 'search attributes, deployments and other facts of a Temporal server' },
    ],
  },
  {
    name: 'ledger',
    layers: [
      {
        folder: 'ledger',
        what: 'the record of what was sent, decided and consented to; its claim decides what may be sent',
      },
      { folder: 'consent', what: 'who has consented to what' },
    ],
  },
  {
    name: 'gateway',
    layers: [
      { folder: 'gateway', what: 'the gateway’s client: requests, answers, tokens' },
      { folder: 'webhooks', what: 'sends one event to one endpoint' },
    ],
  },
  {
    name: 'domain',
    layers: [
      { folder: 'protection', what: 'keys, encryption, redaction, proofs' },
      { folder: 'messages', what: 'the JSON of every message, result and event' },
      { folder: 'fields', what: 'the interface’s field tables' },
      { folder: 'model', what: 'the words of the domain: products, ids, failure types' },
      { folder: 'base', what: 'small pure pieces that know nothing of credit' },
    ],
  },
];

/** The order inside folders whose subfolders are layers too. The folder itself is named where it has files. */
export const SUBLAYERS: Readonly<Record<string, readonly string[]>> = {
  client: ['client', 'client/runs', 'client/connection'],
  local: ['local/dev', 'local/temporal', 'local'],
  messages: [
    'messages',
    'messages/webhooks',
    'messages/portfolio',
    'messages/share',
    'messages/pull',
    'messages/journey',
  ],
  protection: ['protection/redaction', 'protection/payloads', 'protection/sealed', 'protection/keys', 'protection'],
  workflows: [
    'workflows',
    'workflows/journey',
    'workflows/share',
    'workflows/pull',
    'workflows/machine',
    'workflows/portfolio',
    'workflows/webhooks',
    'workflows/ledger',
    'workflows/consent',
    'workflows/inquiry',
    'workflows/run',
  ],
};

/** The only modules of `src` that start the sandbox; `sandbox` imports nothing of `src`. */
export const SANDBOX_STARTERS = ['src/cli/commands/programs/servers.ts', 'src/local/dev/dev-environment.ts'];
