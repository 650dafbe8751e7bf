/** The end-to-end tests of products once more, in the interface's shape. */
import { inInterfaceShape } from '../support/interface-shape.ts';

await inInterfaceShape([
  'changes',
  'consents',
  'early-consents',
  'entitlements',
  'failure-table',
  'lending-journey',
  'portfolio-slow',
  'pulls',
  'replaced-applicants',
  'share-report',
  'shares-not-posted',
]);
