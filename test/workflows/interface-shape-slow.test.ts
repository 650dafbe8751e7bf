/** Portfolio reviews, and what journeys and shares do besides, once more in the interface's shape. */
import { inInterfaceShape } from '../support/interface-shape.ts';

await inInterfaceShape([
  'changes',
  'consents',
  'early-consents',
  'entitlements',
  'failure-table',
  'portfolio',
  'replaced-applicants',
  'shares-not-posted',
  'subset-shares',
]);
