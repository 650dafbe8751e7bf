/**
 * A program of its own: lets the Temporal SDK download one of its servers into `process.argv[3]`. The SDK downloads
 * only in order to start, and offers neither progress nor a time-out; so the parent watches and may kill it.
 */
const [kind, downloadDir] = process.argv.slice(2);
if (!downloadDir) throw new Error('usage: sdk-download-program <cli|test-server> <directory>');

const { TestWorkflowEnvironment } = await import('@temporalio/testing');
const server = { executable: { type: 'cached-download' as const, downloadDir } };
const environment =
  kind === 'cli'
    ? await TestWorkflowEnvironment.createLocal({ server })
    : await TestWorkflowEnvironment.createTimeSkipping({ server });
await environment.teardown();
