/** The end-to-end tests of products once more, in the interface's shape. The others: interface-shape-slow.test.ts. */
import { inInterfaceShape } from '../support/interface-shape.ts';

await inInterfaceShape(['lending-journey', 'pulls', 'share-report']);
